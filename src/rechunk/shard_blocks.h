// In which order tiles are taken when the target has shards: block by block, so that few shards are open at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "array/meta.h"

namespace chunkwise {

/// Whole shards, and whole tiles of this shape, on every axis; or all of an axis. No two blocks share a shard. For
/// targets without shards: the whole array.
Shape block_of(const ArrayMeta& target, const Shape& tile);

/// Memory of all shards of a block while they are open; 0 without shards.
std::uint64_t block_bytes(const ArrayMeta& target, const Shape& block);

/// Shortens counts of chunks along an axis, so that no tile holds a part of one shard and a part of another.
std::vector<Index> whole_in_shards(const ArrayMeta& target, int axis, const std::vector<Index>& counts);

/// Those of one shard come one after the other, else the order stays.
void order_by_shard(const ArrayMeta& target, std::vector<ChunkId>& ids);

/// The tiles of an array: block by block, and in each in C order.
class TileOrder {
 public:
  struct Step {
    ChunkId tile{};
    bool begins_block = false;
  };

  TileOrder() = default;
  /// `block` is a whole number of tiles on every axis, or covers it.
  TileOrder(const ChunkGrid& tiles, const Shape& block);

  std::optional<Step> next();

 private:
  ChunkGrid tiles_;
  ChunkGrid blocks_;
  Index next_block_ = 0;
  Box here_;  // tiles of the present block
  Shape at_;  // the next one of them
  Index n_left_ = 0;
};

}  // namespace chunkwise
