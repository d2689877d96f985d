#include "rechunk/shard_blocks.h"

#include <catch2/catch.hpp>

#include <set>

#include "rechunk/plan.h"

namespace chunkwise {
namespace {

ArrayMeta sharded(const Shape& shape, const Shape& chunk, const Shape& shard) {
  ArrayMeta meta;
  meta.path = "/v";
  meta.dtype = *parse_dtype("f4");
  meta.shape = meta.max_shape = shape;
  meta.chunk = chunk;
  meta.n_stored_chunks = meta.grid().n_chunks();
  if (shard.rank() > 0) {
    ShardLevel level;
    level.shape = shard;
    meta.shards = {level};
  }
  return meta;
}

TEST_CASE("Tiles hold whole shards, or lie in one") {
  const ArrayMeta meta = sharded({1000, 100}, {10, 10}, {120, 30});
  CHECK(whole_in_shards(meta, 0, {1, 5, 7, 12, 13, 30, 99, 100}) == std::vector<Index>{1, 4, 6, 12, 24, 96, 100});
  CHECK(whole_in_shards(meta, 1, {2, 3, 9, 10}) == std::vector<Index>{1, 3, 9, 10});
  CHECK(whole_in_shards(sharded({1000, 100}, {10, 10}, {}), 0, {7, 9}) == std::vector<Index>{7, 9});
}

TEST_CASE("A block is the larger of tile and shard") {
  const ArrayMeta meta = sharded({1000, 100}, {10, 10}, {120, 30});
  CHECK(block_of(meta, {60, 10}) == Shape{120, 30});
  CHECK(block_of(meta, {240, 30}) == Shape{240, 30});
  CHECK(block_of(meta, {1000, 10}) == Shape{1000, 30});
  CHECK(block_of(sharded({1000, 100}, {10, 10}, {}), {60, 10}) == Shape{1000, 100});
  CHECK(block_bytes(meta, {120, 30}) == 36 * 16 + 1024);
  CHECK(block_bytes(meta, {1000, 30}) == 9 * (36 * 16 + 1024));
  CHECK(block_bytes(sharded({1000, 100}, {10, 10}, {}), {1000, 100}) == 0);
}

TEST_CASE("All tiles come once, and those of a block together") {
  const Shape array{50, 33, 7};
  const ChunkGrid tiles(array, {10, 5, 7});
  const Shape block{20, 10, 7};
  const ChunkGrid blocks(array, block);
  TileOrder order(tiles, block);
  std::set<Index> seen;
  Index n_blocks = 0;
  Index here = -1;
  while (const auto step = order.next()) {
    CHECK(seen.insert(linear(step->tile)).second);
    const std::vector<ChunkId> in = blocks.overlapping(tiles.box(step->tile));
    REQUIRE(in.size() == 1);
    if (step->begins_block) {
      CHECK(linear(in[0]) == n_blocks);
      here = n_blocks++;
    }
    CHECK(linear(in[0]) == here);
  }
  CHECK(std::ssize(seen) == tiles.n_chunks());
  CHECK(n_blocks == blocks.n_chunks());
  CHECK_FALSE(TileOrder().next());
  TileOrder scalar(ChunkGrid({}, {}), {});
  CHECK(scalar.next()->begins_block);
  CHECK_FALSE(scalar.next());
}

TEST_CASE("Chunks of one shard come one after the other") {
  const ArrayMeta meta = sharded({4, 4}, {1, 1}, {2, 2});
  std::vector<ChunkId> ids = meta.grid().overlapping({{0, 0}, {2, 4}});
  order_by_shard(meta, ids);
  std::vector<Index> numbers;
  for (const ChunkId id : ids) numbers.push_back(linear(id));
  CHECK(numbers == std::vector<Index>{0, 1, 4, 5, 2, 3, 6, 7});
}

TEST_CASE("The plan keeps the index of open shards in its memory") {
  // 64 shards of 1000 x 1000 chunks each: 16 MB of index for one.
  const ArrayMeta source = sharded({8000, 8000}, {1000, 1000}, {});
  const ArrayMeta target = sharded({8000, 8000}, {1, 1}, {1000, 1000});
  PlanRequest request;
  request.base_bytes = 10u << 20;
  request.memory_bytes = 200u << 20;
  request.n_threads = 2;
  const Plan plan = make_plan({{&source, &target}}, request);
  CHECK(plan.arrays[0].block_bytes <= plan.shards_bytes);
  CHECK(plan.shards_bytes >= 16'000'000);
  CHECK(plan.base_bytes + 2 * plan.worker_bytes + plan.read_ahead_bytes + plan.tiles_bytes + plan.shards_bytes <=
        request.memory_bytes);
  request.memory_bytes = 40u << 20;
  CHECK_THROWS_WITH(make_plan({{&source, &target}}, request), Catch::Contains("one shard's index"));
}

}  // namespace
}  // namespace chunkwise
