#include "rechunk/shard_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "array/shard_sink.h"
#include "base/checked.h"

namespace chunkwise {

Shape block_of(const ArrayMeta& target, const Shape& tile) {
  Shape block = target.shape;
  for (int axis = 0; axis < block.rank(); ++axis) {
    const Index whole = std::max<Index>(target.shape[axis], 1);
    const bool covers = target.shards.empty() || tile[axis] >= whole;
    block[axis] = covers ? whole : std::max(tile[axis], target.unit()[axis]);
  }
  return block;
}

std::uint64_t block_bytes(const ArrayMeta& target, const Shape& block) {
  if (target.shards.empty()) return 0;
  std::uint64_t bytes = ShardSink::open_bytes(target);
  for (int axis = 0; axis < block.rank(); ++axis) {
    const Index n = ceil_div(std::min(block[axis], std::max<Index>(target.shape[axis], 1)), target.unit()[axis]);
    const auto all = checked_mul(bytes, static_cast<std::uint64_t>(n));
    if (!all) return std::numeric_limits<std::uint64_t>::max();
    bytes = *all;
  }
  return bytes;
}

std::vector<Index> whole_in_shards(const ArrayMeta& target, int axis, const std::vector<Index>& counts) {
  if (target.shards.empty()) return counts;
  const Index in_shard = target.unit()[axis] / target.chunk[axis];
  const Index all = ceil_div(std::max<Index>(target.shape[axis], 1), target.chunk[axis]);
  std::vector<Index> divisors;
  for (Index d = 1; d <= in_shard / d; ++d) {
    if (in_shard % d != 0) continue;
    divisors.push_back(d);
    divisors.push_back(in_shard / d);
  }
  std::sort(divisors.begin(), divisors.end());
  std::vector<Index> whole;
  for (const Index count : counts) {
    if (count >= all) {
      whole.push_back(all);
    } else if (count >= in_shard) {
      whole.push_back(count - count % in_shard);
    } else {
      whole.push_back(*std::prev(std::upper_bound(divisors.begin(), divisors.end(), count)));
    }
  }
  std::sort(whole.begin(), whole.end());
  whole.erase(std::unique(whole.begin(), whole.end()), whole.end());
  return whole;
}

void order_by_shard(const ArrayMeta& target, std::vector<ChunkId>& ids) {
  if (target.shards.empty()) return;
  const ChunkGrid chunks = target.grid();
  const ChunkGrid units(target.shape, target.unit());
  std::vector<std::pair<ChunkId, ChunkId>> keyed;
  keyed.reserve(ids.size());
  for (const ChunkId id : ids) {
    Shape at = chunks.full_box(id).origin;
    for (int axis = 0; axis < at.rank(); ++axis) at[axis] /= units.chunk()[axis];
    keyed.emplace_back(units.id(at), id);
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = keyed[i].second;
}

TileOrder::TileOrder(const ChunkGrid& tiles, const Shape& block) : tiles_(tiles), blocks_(tiles.array(), block) {}

std::optional<TileOrder::Step> TileOrder::next() {
  Step step;
  if (n_left_ == 0) {
    if (next_block_ == blocks_.n_chunks()) return std::nullopt;
    here_ = tiles_.chunks_of(blocks_.box(ChunkId{next_block_++}));
    at_ = here_.origin;
    n_left_ = product(here_.shape);
    step.begins_block = true;
  }
  step.tile = tiles_.id(at_);
  --n_left_;
  for (int axis = at_.rank() - 1; axis >= 0; --axis) {
    if (++at_[axis] < here_.origin[axis] + here_.shape[axis]) break;
    at_[axis] = here_.origin[axis];
  }
  return step;
}

}  // namespace chunkwise
