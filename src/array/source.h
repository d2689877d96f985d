// Reading and writing the encoded chunks of one array.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "array/meta.h"
#include "base/bytes.h"

namespace chunkwise {

/// Never written: reads as fill.
struct Absent {};
/// A byte range of an object. Sources with one object per chunk have offset 0.
struct StoredAt {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint32_t skipped_codecs = 0;  // bit i: codec i not applied
  std::uint64_t object = 0;          // which, where several hold several chunks each (shards)
};
/// Only reading tells whether it is there, see EncodedChunk::absent; it has at most so many bytes. For stores where the
/// question costs as much as the answer.
struct Unlocated {
  std::uint64_t max_bytes = 0;
};
using ChunkRef = std::variant<Absent, StoredAt, Unlocated>;

/// What a chunk that is not known to be absent takes at most.
std::uint64_t most_bytes(const ChunkRef& chunk);

/// An encoded chunk in somebody else's memory.
struct EncodedChunk {
  ByteView bytes;
  std::uint32_t skipped_codecs = 0;
  bool absent = false;
};

/// The result of a read: chunks in the order asked for, and the memory they lie in.
struct ReadBatch {
  std::vector<EncodedChunk> chunks;
  std::vector<Bytes> blocks;
};

/// One array of an open dataset. All members are thread-safe; the Reader must outlive it.
class ArraySource {
 public:
  virtual ~ArraySource() = default;
  const ArrayMeta& meta() const { return meta_; }
  const ChunkGrid& grid() const { return grid_; }

  /// Where the chunk lies. Cheap: addresses were collected at opening, or it is one stat.
  /// Throws Error{corrupt} for a size above CodecChain::max_stored_bytes or a range past the end of the file.
  virtual ChunkRef locate(ChunkId id) const = 0;
  /// Reads encoded chunks: sorted by address, neighbours merged into one request. Replaces `batch`; its blocks hold at
  /// most the encoded bytes plus 1/8 for gaps read over. Throws Error{corrupt}, Error{io} naming the chunk.
  virtual void read(std::span<const ChunkId> ids, ReadBatch& batch) const = 0;
  /// Of a contiguous array: the same in other runs, which reads no more than those. Null: cannot; then cut_linear()
  /// puts runs together from whole present ones.
  virtual std::unique_ptr<ArraySource> in_runs(const Shape& /*chunk*/) const { return nullptr; }

 protected:
  explicit ArraySource(ArrayMeta meta) : meta_(std::move(meta)), grid_(meta_.grid()) {}
  ArrayMeta meta_;
  ChunkGrid grid_;
};

/// A contiguous array cut otherwise: `chunk` must be 1, ..., 1, n, full, ..., full (a run of bytes). Keeps a reference.
std::unique_ptr<ArraySource> cut_linear(const ArraySource& contiguous, const Shape& chunk);

/// One array of a dataset being written. Thread-safe.
class ArraySink {
 public:
  virtual ~ArraySink() = default;
  const ArrayMeta& meta() const { return meta_; }
  const ChunkGrid& grid() const { return grid_; }

  /// Stores an encoded chunk; chunks in any order, each once and from one thread. An absent chunk is one that reads as
  /// fill, and must be told as well: its place is filled where all chunks lie in one run of bytes, and a shard is
  /// complete only with it.
  /// For contiguous and compact arrays the chunk is a clipped run of raw bytes.
  virtual void write(ChunkId id, const EncodedChunk& chunk) = 0;
  /// True if a chunk may leave codecs out (HDF5's filter mask).
  virtual bool keeps_skipped_codecs() const { return false; }

 protected:
  explicit ArraySink(ArrayMeta meta) : meta_(std::move(meta)), grid_(meta_.grid()) {}
  ArrayMeta meta_;
  ChunkGrid grid_;
};

}  // namespace chunkwise
