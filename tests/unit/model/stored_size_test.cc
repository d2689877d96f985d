// What layouts take besides data, and which of them nothing beats.
#include "model/stored_size.h"

#include <catch2/catch.hpp>

#include "model/pareto.h"

using namespace chunkwise;

TEST_CASE("padding is full edge chunks, where nothing compresses them") {
  StoredArray array;
  array.shape = {721, 1440};
  array.element_bytes = 4;
  array.chunk = Shape{300, 300};
  CHECK(padding_bytes(array) == 4.0 * (900 * 1500 - 721 * 1440));
  array.decode.compresses = true;
  CHECK(padding_bytes(array) == 0);
  array.decode.compresses = false;
  array.pads_edges = false;
  CHECK(padding_bytes(array) == 0);
  array.chunk.reset();
  CHECK(padding_bytes(array) == 0);
}

TEST_CASE("an index has a node for about 50 chunks of a file, 16 bytes for every chunk of a shard") {
  StoredArray array;
  array.shape = {1000, 200, 300};
  array.element_bytes = 4;
  CHECK(index_bytes(array) == 0);
  array.chunk = Shape{100, 200, 300};  // ten chunks, one node
  CHECK(index_bytes(array) == 24 + 65 * 40 + 64 * 8);
  array.chunk = Shape{1, 200, 300};  // 1,000 chunks: 20 leaves and the root
  CHECK(index_bytes(array) == 21.0 * (24 + 65 * 40 + 64 * 8));
  array.placement = Placement::one_object;
  CHECK(index_bytes(array) == 0);
  array.shard = Shape{30, 200, 300};  // 34 shards
  CHECK(index_bytes(array) == 34.0 * (16 * 30 + 4));
}

TEST_CASE("the front has what nothing beats in every respect") {
  const std::vector<std::vector<double>> points = {{1, 10, 5}, {2, 10, 5},       {2, 5, 5},
                                                   {1, 10, 5}, {1.005, 9.99, 5}, {9, 9, 1}};
  CHECK(pareto_front(points) == std::vector<std::size_t>{0, 2, 5});
  CHECK(pareto_front({}).empty());
  CHECK(pareto_front({{3, 3}}) == std::vector<std::size_t>{0});
}
