// The index of a shard: where the chunks, or inner shards, that it holds lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array/meta.h"
#include "base/bytes.h"
#include "codec/chain.h"

namespace chunkwise {

/// Where one part of a shard lies, from the shard's first byte. Value type.
struct ShardEntry {
  static constexpr std::uint64_t kAbsent = ~std::uint64_t{0};
  std::uint64_t offset_bytes = kAbsent;
  std::uint64_t length_bytes = kAbsent;

  /// Never written: reads as fill.
  bool absent() const { return offset_bytes == kAbsent && length_bytes == kAbsent; }
  friend bool operator==(const ShardEntry&, const ShardEntry&) = default;
};

/// How the shards of one level keep their index. Immutable, thread-safe.
class ShardIndexForm {
 public:
  /// Larger indexes are refused.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

  /// `part`: the shape of a chunk, or of a shard of the next level. Throws Error{corrupt} unless whole parts fill the
  /// shard, Error{unsupported} for an index above kMostBytes.
  ShardIndexForm(const ShardLevel& level, const Shape& part);

  /// Parts along each axis, those beyond the end of the array included.
  const Shape& counts() const { return counts_; }
  std::size_t n_parts() const { return n_parts_; }
  /// Bytes of the index as it is stored, and of its entries in memory.
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  std::uint64_t entries_bytes() const { return n_parts_ * sizeof(ShardEntry); }

  /// Number of an entry from the coordinates of the part inside its shard.
  std::size_t position(const Shape& coords) const;
  /// Where the index begins in a shard of this size. Throws Error{corrupt} if the shard is smaller than its index.
  std::uint64_t place(std::uint64_t shard_bytes) const;
  /// Where the first part may lie.
  std::uint64_t first_part() const { return at_start_ ? stored_bytes_ : 0; }

  /// Throws Error{corrupt} for a checksum that does not fit.
  std::vector<ShardEntry> decode(ByteView stored, CodecChain::Scratch& scratch) const;
  /// The result lies in `scratch`.
  ByteView encode(std::span<const ShardEntry> entries, CodecChain::Scratch& scratch) const;
  /// Throws Error{corrupt} unless an entry is absent, or a range inside a shard of this size and outside its index.
  void check(const ShardEntry& entry, std::uint64_t shard_bytes) const;

 private:
  Shape counts_;
  Shape strides_;  // of positions, by axis
  std::size_t n_parts_ = 0;
  std::uint64_t stored_bytes_ = 0;
  ByteOrder order_;
  bool at_start_;
  CodecChain codecs_;
};

/// The forms of all levels of an array, outermost first.
std::vector<ShardIndexForm> shard_index_forms(const ArrayMeta& meta);

}  // namespace chunkwise
