#include "grid/cut_grid.h"

#include <catch2/catch.hpp>

#include <random>

using namespace chunkwise;

TEST_CASE("cuts at the multiples of two lengths are those of a count by hand") {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const Index extent = std::uniform_int_distribution<Index>(0, 90)(random);
    const Index a = std::uniform_int_distribution<Index>(1, 100)(random);
    const Index b = std::uniform_int_distribution<Index>(1, 30)(random);
    const Index most = std::uniform_int_distribution<Index>(1, 40)(random);
    CAPTURE(extent, a, b, most);
    std::vector<Index> wanted;
    for (Index at = 0; at < extent; ++at)
      if (at % a == 0 || at % b == 0) wanted.push_back(at);
    const std::vector<Index> cuts = cuts_of_both(extent, a, b);
    REQUIRE(cuts == wanted);
    const std::vector<Index> finer = cut_further(cuts, extent, most);
    REQUIRE(longest(finer, extent) <= most);
    REQUIRE(longest(finer, extent) == std::min(most, longest(cuts, extent)));
    REQUIRE(std::includes(finer.begin(), finer.end(), cuts.begin(), cuts.end()));
  }
}

TEST_CASE("boxes of a cut grid cover the array once, and are found by what they touch") {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const int rank = std::uniform_int_distribution<int>(0, 3)(random);
    Shape shape;
    std::vector<std::vector<Index>> cuts;
    for (int axis = 0; axis < rank; ++axis) {
      shape.push_back(std::uniform_int_distribution<Index>(1, 12)(random));
      cuts.push_back(cuts_of_both(shape[axis], std::uniform_int_distribution<Index>(1, 14)(random),
                                  std::uniform_int_distribution<Index>(1, 14)(random)));
    }
    const CutGrid grid(shape, cuts);
    REQUIRE(grid.is_regular() == (rank == 0));
    Index n_elements = 0;
    for (Index i = 0; i < grid.n_boxes(); ++i) {
      const Box box = grid.box(ChunkId{i});
      REQUIRE_FALSE(box.empty());
      REQUIRE(contains(whole(shape), box));
      REQUIRE(grid.id(grid.coords(ChunkId{i})) == ChunkId{i});
      REQUIRE(grid.overlapping(box) == std::vector<ChunkId>{ChunkId{i}});
      n_elements += product(box.shape);
    }
    REQUIRE(n_elements == product(shape));
    Box some = whole(shape);
    for (int axis = 0; axis < rank; ++axis) {
      some.origin[axis] = std::uniform_int_distribution<Index>(0, shape[axis] - 1)(random);
      some.shape[axis] = std::uniform_int_distribution<Index>(0, shape[axis] - some.origin[axis])(random);
    }
    std::vector<ChunkId> wanted;
    for (Index i = 0; i < grid.n_boxes(); ++i)
      if (!intersect(grid.box(ChunkId{i}), some).empty()) wanted.push_back(ChunkId{i});
    REQUIRE(grid.overlapping(some) == wanted);
  }
}

TEST_CASE("a cut grid of a chunk grid has its boxes") {
  const ChunkGrid chunks(Shape{7, 5}, Shape{3, 2});
  const CutGrid grid = chunks;
  REQUIRE(grid.is_regular());
  REQUIRE(grid.n_boxes() == 9);
  for (Index i = 0; i < 9; ++i) REQUIRE(grid.box(ChunkId{i}) == chunks.box(ChunkId{i}));
  const Box part{Shape{2, 1}, Shape{2, 3}};
  REQUIRE(grid.overlapping(part) == chunks.overlapping(part));
  REQUIRE(grid.boxes_of(part) == chunks.chunks_of(part));
}
