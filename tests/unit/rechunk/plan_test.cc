#include "rechunk/plan.h"

#include <catch2/catch.hpp>

#include <random>

#include "base/error.h"
#include "rechunk/tiling.h"

using namespace chunkwise;

namespace {

ArrayMeta narr(const Shape& chunk) {
  ArrayMeta meta;
  meta.path = "/T";
  meta.dtype = *parse_dtype("f4");
  meta.shape = Shape{4906, 277, 349};
  meta.max_shape = meta.shape;
  meta.chunk = chunk;
  meta.n_stored_chunks = meta.grid().n_chunks();
  meta.stored_bytes = 500'000'000;
  return meta;
}

}  // namespace

TEST_CASE("reads along an axis equal a count by hand") {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const Index extent = std::uniform_int_distribution<Index>(0, 200)(random);
    const Index chunk = std::uniform_int_distribution<Index>(1, 60)(random);
    const Index tile = std::uniform_int_distribution<Index>(1, 220)(random);
    Index wanted = 0;
    for (Index begin = 0; begin < extent; begin += tile) {
      const Index last = std::min(begin + tile, extent) - 1;
      wanted += last / chunk - begin / chunk + 1;
    }
    CAPTURE(extent, chunk, tile);
    REQUIRE(reads_along_axis(extent, chunk, tile) == wanted);
  }
}

TEST_CASE("maps to blocks: with room, every source chunk is read once") {
  const ArrayMeta source = narr({1, 277, 349});
  const ArrayMeta target = narr({500, 28, 35});
  const Shape tile = choose_tile(source, target, 300u << 20);
  CHECK(tile[1] >= 277);
  CHECK(tile[2] >= 349);
  CHECK(tile[0] == 500);
}

TEST_CASE("maps to blocks: with less memory the tile shrinks across the map, not along time") {
  const ArrayMeta source = narr({1, 277, 349});
  const ArrayMeta target = narr({500, 28, 35});
  const Shape tile = choose_tile(source, target, 100u << 20);
  CHECK(tile[0] == 500);
  CHECK(static_cast<std::uint64_t>(tile[0]) * std::min<Index>(tile[1], 277) * std::min<Index>(tile[2], 349) * 4 <=
        100u << 20);
  PlanRequest request;
  request.memory_bytes = 128u << 20;
  request.base_bytes = 20u << 20;
  request.n_threads = 2;
  const Plan plan = make_plan({{&source, &target}}, request);
  CHECK(plan.arrays[0].passes <= 3.01);
  CHECK(plan.base_bytes + 2 * plan.worker_bytes + plan.read_ahead_bytes + plan.tiles_bytes <= request.memory_bytes);
  CHECK(plan.arrays[0].tile_bytes <= plan.tiles_bytes);
}

TEST_CASE("too little memory is refused with the least that works") {
  const ArrayMeta source = narr({1, 277, 349});
  const ArrayMeta target = narr({500, 28, 35});
  PlanRequest request;
  request.memory_bytes = 1u << 20;
  request.base_bytes = 10u << 20;
  request.n_threads = 8;
  try {
    make_plan({{&source, &target}}, request);
    FAIL("planned");
  } catch (const Error& e) {
    REQUIRE(e.code() == Code::budget);
    const std::string hint = e.hint();
    request.memory_bytes = std::stoull(hint.substr(hint.find_first_of("0123456789"))) << 20;
  }
  const Plan plan = make_plan({{&source, &target}}, request);
  CHECK(plan.n_threads == 1);
  request.memory_bytes -= 4u << 20;
  CHECK_THROWS_AS(make_plan({{&source, &target}}, request), Error);
}

TEST_CASE("a contiguous source is cut into runs that do not straddle tiles") {
  ArrayMeta source = narr({1, 277, 349});
  source.storage = Storage::contiguous;
  CHECK(linear_cut(source, {500, 277, 349}) == Shape{2, 277, 349});
  CHECK(linear_cut(source, {500, 28, 349}) == Shape{1, 28, 349});
  CHECK(linear_cut(source, {500, 28, 35}) == Shape{1, 1, 35});
  source.shape = Shape{10, 2000, 2000};
  CHECK(linear_cut(source, {10, 2000, 2000}) == Shape{1, 131, 2000});
}

TEST_CASE("same grids and codecs are copied encoded, unless a fill must be written out") {
  ArrayMeta source = narr({1, 277, 349});
  ArrayMeta target = source;
  PlanRequest request;
  request.memory_bytes = 256u << 20;
  CHECK(make_plan({{&source, &target}}, request).arrays[0].kind == ArrayPlan::Kind::copy_chunks);
  source.n_stored_chunks = 3;
  CHECK(make_plan({{&source, &target}}, request).arrays[0].kind == ArrayPlan::Kind::copy_chunks);
  target.fill.assign(4, std::byte{1});
  CHECK(make_plan({{&source, &target}}, request).arrays[0].kind == ArrayPlan::Kind::rewrite);
  target = source;
  target.codecs = {{"zstd", {}}};
  CHECK(make_plan({{&source, &target}}, request).arrays[0].kind == ArrayPlan::Kind::rewrite);
}

TEST_CASE("planning stays quick for awkward arrays") {
  ArrayMeta source;
  source.path = "/x";
  source.dtype = *parse_dtype("f4");
  source.shape = Shape{9973, 997, 101, 97, 13, 11};
  source.max_shape = source.shape;
  source.chunk = Shape{7, 10, 101, 9, 2, 11};
  ArrayMeta target = source;
  target.chunk = Shape{100, 1, 10, 97, 13, 1};
  PlanRequest request;
  request.memory_bytes = 512u << 20;
  const Plan plan = make_plan({{&source, &target}}, request);
  CHECK(plan.arrays[0].tile_bytes <= plan.tiles_bytes);
  CHECK(plan.arrays[0].passes >= 1);
}
