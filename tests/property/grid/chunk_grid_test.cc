// ChunkGrid against brute force over elements.
#include "grid/chunk_grid.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

#include "random_boxes.h"

namespace chunkwise {
namespace {

using testing::for_each_position;
using testing::Random;

Shape chunk_coords_of(const Shape& element, const Shape& chunk) {
  Shape coords = element;
  for (int axis = 0; axis < coords.rank(); ++axis) coords[axis] /= chunk[axis];
  return coords;
}

TEST_CASE("The boxes of a chunk grid tile the array exactly") {
  Random random(11);
  for (int i = 0; i < 400; ++i) {
    const int rank = random.rank(4);
    Shape array = random.shape(rank, random.index(0, 9) == 0 ? 0 : 1);
    while (product(array) > 20000) array = random.shape(rank);
    const ChunkGrid grid(array, random.shape(rank));

    std::map<Index, Index> n_elements;  // by chunk
    for_each_position(array, [&](const Shape& at) {
      const ChunkId id = grid.id(chunk_coords_of(at, grid.chunk()));
      REQUIRE(contains(grid.box(id), {at, Shape::filled(rank, 1)}));
      ++n_elements[linear(id)];
    });
    REQUIRE(grid.n_chunks() == static_cast<Index>(n_elements.size()));
    for (const auto& [number, n] : n_elements) {
      const ChunkId id{number};
      REQUIRE(grid.id(grid.coords(id)) == id);
      REQUIRE(product(grid.box(id).shape) == n);
      REQUIRE(grid.full_box(id).shape == grid.chunk());
      REQUIRE(contains(grid.full_box(id), grid.box(id)));
      REQUIRE(grid.overhangs(id) == (n != product(grid.chunk())));
    }
  }
}

TEST_CASE("overlapping finds the chunks of every element of a box, and no other") {
  Random random(12);
  for (int i = 0; i < 400; ++i) {
    const int rank = random.rank(4);
    Shape array = random.shape(rank);
    while (product(array) > 20000) array = random.shape(rank);
    const ChunkGrid grid(array, random.shape(rank));
    Box box{array, array};
    for (int axis = 0; axis < rank; ++axis) {
      box.origin[axis] = random.index(-2, array[axis] + 1);
      box.shape[axis] = random.index(0, array[axis] + 2);
    }
    std::set<Index> expected;
    for_each_position(array, [&](const Shape& at) {
      if (!box.empty() && contains(box, {at, Shape::filled(rank, 1)})) {
        expected.insert(linear(grid.id(chunk_coords_of(at, grid.chunk()))));
      }
    });
    std::vector<Index> actual;
    for (const ChunkId id : grid.overlapping(box)) actual.push_back(linear(id));
    REQUIRE(actual == std::vector<Index>(expected.begin(), expected.end()));
    REQUIRE(product(grid.chunks_of(box).shape) == static_cast<Index>(expected.size()));
  }
}

}  // namespace
}  // namespace chunkwise
