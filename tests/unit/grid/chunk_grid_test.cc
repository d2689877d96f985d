#include "grid/chunk_grid.h"

#include <catch2/catch.hpp>

#include <limits>

#include "../base/throws_code.h"

namespace chunkwise {
namespace {

TEST_CASE("A grid with an overhanging edge") {
  const ChunkGrid grid({10, 7}, {4, 7});
  CHECK(grid.counts() == Shape{3, 1});
  CHECK(grid.n_chunks() == 3);
  CHECK(grid.coords(ChunkId{2}) == Shape{2, 0});
  CHECK(grid.id({2, 0}) == ChunkId{2});
  CHECK(grid.box(ChunkId{2}) == Box{{8, 0}, {2, 7}});
  CHECK(grid.full_box(ChunkId{2}) == Box{{8, 0}, {4, 7}});
  CHECK(grid.overhangs(ChunkId{2}));
  CHECK_FALSE(grid.overhangs(ChunkId{0}));
  CHECK(grid.chunks_of({{3, 0}, {2, 1}}) == Box{{0, 0}, {2, 1}});
  CHECK(grid.overlapping({{4, 0}, {1, 1}}) == std::vector<ChunkId>{ChunkId{1}});
  CHECK(grid.overlapping({{0, 0}, {0, 7}}).empty());
  CHECK(grid.chunks_of({{100, 0}, {5, 5}}).empty());
}

TEST_CASE("A scalar has one chunk, an empty array none") {
  const ChunkGrid scalar({}, {});
  CHECK(scalar.n_chunks() == 1);
  CHECK(scalar.box(ChunkId{0}) == Box{});
  CHECK(scalar.coords(ChunkId{0}) == Shape{});
  CHECK(scalar.overlapping({}) == std::vector<ChunkId>{ChunkId{0}});
  const ChunkGrid empty({0, 7}, {4, 7});
  CHECK(empty.n_chunks() == 0);
  CHECK(empty.counts() == Shape{0, 1});
  CHECK(empty.overlapping(whole({0, 7})).empty());
  CHECK(ChunkGrid().n_chunks() == 0);
}

TEST_CASE("Hostile shapes are corrupt input") {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  constexpr Index kHuge = Index{1} << 40;
  REQUIRE_ERROR(ChunkGrid({kHuge, kHuge}, {1, 1}), Code::corrupt, "more chunks than can be counted");
  REQUIRE_ERROR(ChunkGrid({4}, {4, 4}), Code::corrupt, "axes");
  REQUIRE_ERROR(ChunkGrid({-4}, {4}), Code::corrupt, "axis 0 has length -4");
  REQUIRE_ERROR(ChunkGrid({4}, {0}), Code::corrupt, "length 0 on axis 0");
  REQUIRE_ERROR(ChunkGrid({0}, {0}), Code::corrupt);
  REQUIRE_ERROR(ChunkGrid({kMost}, {kMost - 1}), Code::corrupt, "too long");
  CHECK(ChunkGrid({kMost}, {kMost}).n_chunks() == 1);
  CHECK(ChunkGrid({kMost, 0}, {1, 1}).n_chunks() == 0);
  CHECK(ChunkGrid({10}, {kMost}).box(ChunkId{0}) == Box{{0}, {10}});
}

TEST_CASE("Numbers outside the grid are our fault") {
  const ChunkGrid grid({10}, {4});
  REQUIRE_ERROR(grid.coords(ChunkId{3}), Code::internal);
  REQUIRE_ERROR(grid.coords(ChunkId{-1}), Code::internal);
  REQUIRE_ERROR(grid.id({3}), Code::internal);
  REQUIRE_ERROR(grid.id({0, 0}), Code::internal);
}

}  // namespace
}  // namespace chunkwise
