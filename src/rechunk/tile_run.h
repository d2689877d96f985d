// What is done to the chunks of a tile, by one thread each, without locks.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "array/element_change.h"
#include "array/scratch_array.h"
#include "array/source.h"
#include "base/budget.h"
#include "base/clock.h"
#include "codec/chain.h"
#include "grid/content_sum.h"
#include "grid/cut_grid.h"
#include "rechunk/execute.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// One array while its tiles are in flight.
struct ArrayRun {
  const ArrayPlan* plan = nullptr;
  std::size_t index = 0;
  const ArrayMeta* target = nullptr;
  /// Of a rewrite through an intermediate, which is then the target of the one stage and the source of the other.
  std::shared_ptr<ScratchArray> scratch;
  bool fills_scratch = false;
  bool reads_scratch = false;
  std::unique_ptr<ArraySource> uncut;
  std::unique_ptr<ArraySource> cut;
  const ArraySource* source = nullptr;
  std::unique_ptr<ArraySink> sink;
  /// By which chunks are numbered: those of source and sink, or the boxes of the intermediate.
  CutGrid source_grid;
  CutGrid target_grid;
  CodecChain decode;
  ElementChange change;
  CodecChain encode;
  std::vector<std::byte> source_fill;  // as the source stores it
  std::vector<std::byte> fill;         // the same as the target's elements
  std::vector<std::byte> target_fill;
  bool absent_stays_absent = false;
  bool leaves_out_fill = false;  // a chunk of nothing but the target's fill need not be written
  ChunkGrid tiles;
  /// With Plan::proves_all: of what is read and written.
  std::optional<ContentSum> content;
  /// With that, of an intermediate: what went in, less what came out. Shared by the two stages.
  std::shared_ptr<std::atomic<std::uint64_t>> scratch_sum;
};

/// The shards that the tiles of one block are written into. Given back when the last one is done.
using BlockLease = std::shared_ptr<const MemoryBudget::Lease>;

/// One tile: the box, its elements, and which of its source chunks exist.
struct TileRun {
  std::shared_ptr<ArrayRun> array;
  BlockLease block;
  MemoryBudget::Ticket ticket{};  // its turn among tiles
  std::mutex opening;             // guards the making of the next two
  MemoryBudget::Lease lease;
  bool needs_fill = false;  // not every element will be written by a decoded chunk
  Box box;
  Bytes elements;     // see ArrayPlan::by_chunks; if not by chunks, in C order and the target's byte order
  Box target_chunks;  // grid coordinates of its target chunks
  Box source_chunks;  // grid coordinates of the source chunks it touches
  /// Row-major over source_chunks, each known for sure when it was decoded. Bytes, since threads set them side by side.
  std::vector<std::uint8_t> present;
  bool all_absent = false;
  std::atomic<Index> n_to_decode{0};
  std::atomic<Index> n_to_encode{0};
  /// Content sums of what was decoded into it, and of what was gathered from it to be encoded.
  std::atomic<std::uint64_t> sum_in{0};
  std::atomic<std::uint64_t> sum_out{0};
};

struct Worker {
  CodecChain::Scratch scratch;
  Bytes changed;  // see ElementChange
  StageTotals totals;
};

/// Bytes of a tile's elements.
std::size_t elements_bytes(const TileRun& tile);

/// Decodes a source chunk, or takes the fill if it turned out to be absent, and scatters it into the tile. Different
/// chunks of a tile may be decoded at the same time: their places are disjoint. `read_hash`: hash_of(chunk) when it was
/// read. Throws Error{corrupt} naming the chunk, Error{mismatch} if the chunk is another now.
void decode_chunk(TileRun& tile, ChunkId id, const EncodedChunk& chunk, std::optional<std::uint64_t> read_hash,
                  Worker& worker);

/// Of the encoded bytes, 0 of an absent chunk.
std::uint64_t hash_of(const EncodedChunk& chunk);
/// Throws Error{mismatch} naming the chunk, its first byte that differs from a second reading, and both values, unless
/// its hash is still that of the time when it was read.
void require_unchanged(const ArrayRun& array, ChunkId id, const EncodedChunk& chunk, std::uint64_t read_hash);
/// Throws Error{mismatch} naming the tile and both sums, unless all that came in has gone out.
void require_all_out(const TileRun& tile);

/// Gathers a target chunk from the tile, encodes and writes it, unless it reads the same unwritten. The proof is of a
/// sampled chunk only, unless the plan proves all. Throws what encoding and writing throw, naming the chunk.
std::optional<ChunkProof> encode_chunk(TileRun& tile, ChunkId id, Worker& worker);
/// Only adds the chunk, which an earlier run has written, to the tile's sum.
void count_chunk(TileRun& tile, ChunkId id, Worker& worker);

/// A full chunk encoded again by the whole chain, for sinks that cannot leave a codec out. Lies in the worker's
/// scratch.
EncodedChunk with_all_codecs(const EncodedChunk& chunk, const ArrayMeta& meta, Worker& worker);

}  // namespace chunkwise
