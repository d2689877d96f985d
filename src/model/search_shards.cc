// Chunks and shards depend on each other only through the shards' indexes. So each is searched with the other fixed, in
// turns, which ends after few.
#include "model/search_shards.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"

namespace chunkwise {
namespace {

constexpr int kTurns = 3;
constexpr double kGain = 0.995;
constexpr double kMaxShards = 3000;  // combinations of lengths that are looked at

/// Numbers of chunks along an axis, ascending: small ones, then further and further apart, and all.
std::vector<Index> multiples(Index n_chunks, double ratio) {
  std::vector<Index> counts;
  for (Index count = 1; count < n_chunks;
       count = std::max(count + 1, static_cast<Index>(std::ceil(static_cast<double>(count) * ratio)))) {
    counts.push_back(count);
  }
  counts.push_back(n_chunks);
  return counts;
}

double elements_of(const Shape& shape) {
  double n = 1;
  for (const Index length : shape) n *= static_cast<double>(length);
  return n;
}

class ShardSearch {
 public:
  ShardSearch(const StoredArray& array, std::span<const AccessPattern> patterns, const Device& device,
              std::uint64_t max_objects, std::uint64_t max_shard_bytes, const Goal& goal)
      : array_(array),
        patterns_(patterns),
        device_(device),
        max_objects_(static_cast<double>(max_objects)),
        max_bytes_(static_cast<double>(max_shard_bytes)),
        goal_(goal) {
    const int rank = array.shape.rank();
    for (double ratio = 1.1; ratio < 1e18; ratio *= ratio) {
      counts_.clear();
      double combinations = 1;
      for (int axis = 0; axis < rank; ++axis) {
        counts_.push_back(multiples(ceil_div(array.shape[axis], (*array.chunk)[axis]), ratio));
        combinations *= static_cast<double>(counts_.back().size());
      }
      if (combinations * static_cast<double>(patterns.size()) <= 4 * kMaxShards) break;
    }
  }

  std::optional<Shape> run() {
    Shape shard = *array_.chunk;
    visit(0, shard);
    return best_;
  }

 private:
  void visit(int axis, Shape& shard) {
    if (axis == array_.shape.rank()) {
      consider(shard);
      return;
    }
    for (const Index count : counts_[static_cast<std::size_t>(axis)]) {
      shard[axis] = count * (*array_.chunk)[axis];
      double bytes = static_cast<double>(array_.element_bytes);
      for (int i = 0; i <= axis; ++i) bytes *= static_cast<double>(shard[i]);
      for (int i = axis + 1; i < array_.shape.rank(); ++i) bytes *= static_cast<double>((*array_.chunk)[i]);
      if (bytes > max_bytes_ && shard != *array_.chunk) break;
      visit(axis + 1, shard);
    }
    shard[axis] = (*array_.chunk)[axis];
  }

  void consider(const Shape& shard) {
    if (count_objects(array_.shape, shard) > max_objects_) return;
    array_.shard = shard;
    const double value = value_of(array_, patterns_, device_, goal_);
    const bool larger = best_ && elements_of(shard) > elements_of(*best_);
    if (value < best_value_ * (1 - 1e-9) || (larger && value <= best_value_ * (1 + 1e-9))) {
      best_ = shard;
      best_value_ = std::min(value, best_value_);
    }
  }

  StoredArray array_;
  std::span<const AccessPattern> patterns_;
  const Device& device_;
  double max_objects_;
  double max_bytes_;
  Goal goal_;
  std::vector<std::vector<Index>> counts_;
  std::optional<Shape> best_;
  double best_value_ = std::numeric_limits<double>::infinity();
};

/// Grows the chunk evenly to about so many bytes: where no shard keeps the number of objects, or to begin with.
Shape grown(const StoredArray& array, const Shape& chunk, double bytes) {
  Shape shard = chunk;
  while (true) {
    // The axis along which the shard covers the least share of the array.
    int thinnest = -1;
    double least = 1;
    for (int axis = 0; axis < shard.rank(); ++axis) {
      const double share = static_cast<double>(shard[axis]) / static_cast<double>(array.shape[axis]);
      if (share < least) {
        least = share;
        thinnest = axis;
      }
    }
    if (thinnest < 0) return shard;
    const double now = elements_of(shard) * static_cast<double>(array.element_bytes);
    const Index whole = ceil_div(array.shape[thinnest], chunk[thinnest]) * chunk[thinnest];
    const Index next = std::min(whole, 2 * shard[thinnest]);
    if (now * static_cast<double>(next) / static_cast<double>(shard[thinnest]) > bytes) return shard;
    shard[thinnest] = next;
  }
}

}  // namespace

double count_objects(const Shape& shape, const Shape& unit) {
  double n = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) n *= static_cast<double>(ceil_div(shape[axis], unit[axis]));
  return n;
}

double value_of(const StoredArray& array, std::span<const AccessPattern> patterns, const Device& device,
                const Goal& goal) {
  std::vector<double> values;
  for (const auto& pattern : patterns) values.push_back(goal.value(price(array, pattern, device)));
  return goal.combine(values, patterns);
}

std::optional<Shape> best_shard(const StoredArray& array, std::span<const AccessPattern> patterns, const Device& device,
                                std::uint64_t max_objects, std::uint64_t max_shard_bytes, const Goal& goal) {
  return ShardSearch(array, patterns, device, max_objects, max_shard_bytes, goal).run();
}

ShardedResult search_sharded(const StoredArray& plain, const std::vector<bool>& unlimited,
                             std::span<const AccessPattern> patterns, const Device& device, const SearchLimits& limits,
                             const Goal& goal) {
  StoredArray array = plain;
  array.placement = Placement::one_object;
  array.shard.reset();
  SearchLimits alone = limits;
  alone.max_objects.reset();
  ShardedResult best;
  best.chunks = search_chunks(array, unlimited, patterns, device, alone, goal);
  const std::uint64_t max_objects = limits.max_objects.value_or(UINT64_MAX);
  const bool few = count_objects(array.shape, best.chunks.chunk) <= static_cast<double>(max_objects);

  double best_value = std::numeric_limits<double>::infinity();
  Shape chunk = best.chunks.chunk;
  const std::uint64_t n_first = best.chunks.n_priced;
  if (few) {
    best_value = best.chunks.objective;
  } else if (auto large = search_chunks(array, unlimited, patterns, device, limits, goal); large.within_limits) {
    // Few large chunks may do as well, without indexes.
    best_value = large.objective;
    large.n_priced += n_first;
    best.chunks = large;
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    array.chunk = chunk;
    array.shard.reset();
    auto shard = best_shard(array, patterns, device, max_objects, kMaxShardBytes, goal);
    const bool fits = shard.has_value();
    if (!fits && few) break;
    if (!fits) shard = grown(array, chunk, static_cast<double>(kMaxShardBytes));
    array.shard = *shard == chunk ? std::optional<Shape>() : shard;
    const double value = value_of(array, patterns, device, goal);
    // Shards that gain nothing are only another thing to know.
    if (value < best_value * kGain) {
      best_value = value;
      best.chunks.chunk = chunk;
      best.chunks.objective = value;
      best.chunks.within_limits = best.chunks.within_limits && fits;
      best.shard = array.shard;
    }
    if (!array.shard || turn + 1 == kTurns) break;
    const auto next = search_chunks(array, unlimited, patterns, device, alone, goal);
    best.chunks.n_priced += next.n_priced;
    if (next.chunk == chunk) break;
    chunk = next.chunk;
  }
  // Of the parts, not of both together.
  if (best.shard) best.chunks.proven = false;
  return best;
}

}  // namespace chunkwise
