#include "grid/box.h"

#include <catch2/catch.hpp>

#include "../base/throws_code.h"

namespace chunkwise {
namespace {

TEST_CASE("Boxes meet in a box") {
  const Box a{{0, 10}, {5, 10}};
  CHECK(intersect(a, Box{{3, 5}, {9, 8}}) == Box{{3, 10}, {2, 3}});
  CHECK(intersect(a, a) == a);
  CHECK(intersect(a, Box{{5, 10}, {1, 1}}).empty());
  CHECK(intersect(a, Box{{3, 30}, {1, 1}}).shape == Shape{1, 0});
  CHECK(intersect(Box{}, Box{}) == Box{});
  REQUIRE_ERROR(intersect(a, Box{}), Code::internal);
}

TEST_CASE("A box contains the boxes within it, and every empty one") {
  const Box outer = whole({5, 6});
  CHECK(outer == Box{{0, 0}, {5, 6}});
  CHECK(contains(outer, outer));
  CHECK(contains(outer, Box{{4, 5}, {1, 1}}));
  CHECK_FALSE(contains(outer, Box{{4, 5}, {1, 2}}));
  CHECK_FALSE(contains(outer, Box{{-1, 0}, {2, 2}}));
  CHECK(contains(outer, Box{{50, 0}, {0, 2}}));
  CHECK(contains(Box{}, Box{}));
}

TEST_CASE("A box is empty if an axis is") {
  CHECK(Box{{0, 0}, {3, 0}}.empty());
  CHECK_FALSE(Box{{0, 0}, {3, 1}}.empty());
  CHECK_FALSE(Box{}.empty());  // a scalar has one element
}

}  // namespace
}  // namespace chunkwise
