// Chunks and the shards around them, together.
#pragma once

#include "model/search.h"

namespace chunkwise {

/// A shard is written by one client as a whole; larger ones are no quicker to read.
inline constexpr std::uint64_t kMaxShardBytes = 512u << 20;

struct ShardedResult {
  SearchResult chunks;
  /// Whole chunks on every axis; nothing: chunks stand alone.
  std::optional<Shape> shard;
};

/// The best shard around the chunks of `array`: as many whole chunks on every axis as make the accesses cheapest, of
/// those that keep `max_objects` and `max_shard_bytes` (decoded); of equals the largest. Nothing if none keeps both.
std::optional<Shape> best_shard(const StoredArray& array, std::span<const AccessPattern> patterns, const Device& device,
                                std::uint64_t max_objects, std::uint64_t max_shard_bytes, const Goal& goal);

/// The best chunks, each an object or several in a shard, that keep the number of objects. As search_chunks(); proven
/// for chunks without shards only as far as there are no shards. Where no shards keep the limits, the largest that fit.
ShardedResult search_sharded(const StoredArray& array, const std::vector<bool>& unlimited,
                             std::span<const AccessPattern> patterns, const Device& device, const SearchLimits& limits,
                             const Goal& goal = {});

/// How many objects hold the array.
double count_objects(const Shape& shape, const Shape& unit);

/// What the goal counts for the array as it is described.
double value_of(const StoredArray& array, std::span<const AccessPattern> patterns, const Device& device,
                const Goal& goal);

}  // namespace chunkwise
