// The plan of a rewrite: tiles, passes, memory. Pure: no I/O happens here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/meta.h"

namespace chunkwise {

struct IntermediatePlan;

/// A way to rewrite an array whose source does not go through the memory at once.
struct PlanChoice {
  bool by_intermediate = false;
  double passes = 1;
  std::uint64_t read_bytes = 0;     // of the source
  std::uint64_t scratch_bytes = 0;  // written once, read once; at most, if the source does not tell how well they pack
  double seconds = 0;               // 0 if it cannot be done
  /// Why it was not taken; empty for the one that was.
  std::string why_not;
};

/// How one array is rewritten.
struct ArrayPlan {
  enum class Kind {
    nothing,      // no elements, or none ever written
    copy_chunks,  // grids and codecs agree: encoded chunks move as they are
    rewrite,      // decode, gather, encode
    elements,     // elements of any length, one by one: rechunk/element_copy.h
    by_format,    // elements only the format itself can read and write: Writer::copy_elements
  };
  std::string path;
  Kind kind = Kind::nothing;
  /// Box worked on at a time: whole target chunks on every axis (clipped at the end of the array).
  Shape tile;
  Index n_tiles = 0;
  /// Tiles are taken block by block. Encoded copies have no tiles and go by blocks.
  Shape block;
  /// Memory of the shards of a block while they are written.
  std::uint64_t block_bytes = 0;
  /// A tile in memory is its target chunks one after the other, ready to encode, rather than one box in C order from
  /// which each is gathered. Better where source chunks meet target chunks in large pieces.
  bool by_chunks = false;
  /// Chunks the source is read in (its own, or the cut chosen for a contiguous source).
  Shape source_chunk;
  /// Source chunks read, counting repeats, and how often each is read on average.
  Index n_source_reads = 0;
  double passes = 1;
  Index n_target_chunks = 0;
  /// Estimated encoded bytes read; decoded bytes written.
  std::uint64_t read_bytes = 0;
  std::uint64_t decoded_bytes = 0;
  /// Memory of one tile in flight, its bookkeeping included.
  std::uint64_t tile_bytes = 0;
  /// Largest encoded source chunk that must be held.
  std::uint64_t largest_read_bytes = 0;
  /// Set where the source's elements go through an intermediate array, which the tiles are then made from.
  std::shared_ptr<const IntermediatePlan> intermediate;
  /// What was weighed, the one taken first. Empty where the source is read once as it is.
  std::vector<PlanChoice> choices;
};

struct Plan {
  std::vector<ArrayPlan> arrays;  // parallel to the target's arrays
  int n_threads = 1;
  std::uint64_t memory_bytes = 0;      // the promise
  std::uint64_t base_bytes = 0;        // the process without buffers
  std::uint64_t worker_bytes = 0;      // of one thread
  std::uint64_t read_ahead_bytes = 0;  // encoded chunks read and not yet decoded
  std::uint64_t tiles_bytes = 0;       // tiles in flight
  std::uint64_t tile_room_bytes = 0;   // what they could have
  /// Where intermediate arrays lie, one at a time; their index in memory. Empty and 0 without.
  std::string scratch_folder;
  std::uint64_t scratch_index_bytes = 0;
  /// What turns out to be lost while elements are copied is told rather than refused.
  bool allows_loss = false;
  /// Every chunk is remembered by a hash until the target is read back, and sums of what is read and of what is written
  /// are compared on the way; else only a sample is remembered.
  bool proves_all = false;
  std::uint64_t shards_bytes = 0;  // shards being written: where their chunks lie
};

/// Room for intermediate arrays on a disk.
struct ScratchSpace {
  std::string folder;
  std::uint64_t free_bytes = 0;
  bool is_required = false;  // the user named it: an intermediate that is better but does not fit is an error
};

struct PlanRequest {
  std::uint64_t memory_bytes = 0;
  /// Resident bytes of the process before buffers, with what libraries will still need.
  std::uint64_t base_bytes = 0;
  int n_threads = 1;
  bool allows_loss = false;
  bool proves_all = false;
  /// None: the source is read as often as it takes.
  std::optional<ScratchSpace> scratch;
};

/// One array to plan: what it is and what it shall become.
struct PlanInput {
  const ArrayMeta* source = nullptr;
  const ArrayMeta* target = nullptr;
};

/// Chooses tiles that read the source as few times as the memory allows; fewer threads where the memory is short. Where
/// it would be read more than once, weighs that against an intermediate array.
/// Throws Error{budget} naming the least memory that works, Error{unsupported} for codecs nobody here can run,
/// Error{io} if the scratch space that was asked for does not suffice.
Plan make_plan(const std::vector<PlanInput>& arrays, const PlanRequest& request);

/// The fill of `meta` as dtype.bytes bytes in `order`; zeros where undefined.
std::vector<std::byte> fill_in_order(const ArrayMeta& meta, ByteOrder order);
/// The fill of `source` as elements of `target`, in its byte order.
std::vector<std::byte> fill_as(const ArrayMeta& source, const ArrayMeta& target);

}  // namespace chunkwise
