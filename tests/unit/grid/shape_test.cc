#include "grid/shape.h"

#include <catch2/catch.hpp>

#include <vector>

#include "../base/throws_code.h"

namespace chunkwise {
namespace {

TEST_CASE("A shape is a value") {
  Shape shape{4, 5};
  shape.push_back(6);
  CHECK(shape.rank() == 3);
  CHECK(shape[2] == 6);
  const Shape copy = shape;
  shape[0] = 9;
  CHECK(copy == Shape{4, 5, 6});
  CHECK_FALSE(copy == shape);
  CHECK_FALSE(Shape{4, 5} == copy);
  CHECK(Shape{} == Shape::filled(0, 7));
  CHECK(Shape::filled(3, 2) == Shape{2, 2, 2});
  CHECK(Shape(copy.span()) == copy);
}

TEST_CASE("A shape has at most 32 axes") {
  Shape shape = Shape::filled(kMaxRank, 1);
  REQUIRE_ERROR(shape.push_back(1), Code::unsupported, "33 axes");
  REQUIRE_ERROR(Shape::filled(33, 1), Code::unsupported, "33 axes");
  const std::vector<Index> many(1000, 1);
  REQUIRE_ERROR(Shape(many), Code::unsupported, "1000 axes");
}

TEST_CASE("The product of a hostile shape is nothing") {
  CHECK(checked_product({}) == 1);
  CHECK(checked_product({3, 4}) == 12);
  CHECK(checked_product({Index{1} << 31, Index{1} << 31}) == Index{1} << 62);
  CHECK_FALSE(checked_product({Index{1} << 40, Index{1} << 40}).has_value());
  CHECK(checked_product({Index{1} << 40, Index{1} << 40, 0}) == 0);
  CHECK_FALSE(checked_product({3, -1}).has_value());
  CHECK_FALSE(checked_product({0, -1}).has_value());
  CHECK(product({3, 4}) == 12);
  REQUIRE_ERROR(product({Index{1} << 40, Index{1} << 40}), Code::internal);
}

TEST_CASE("Shapes as text") {
  CHECK(to_string(Shape{98128, 277, 349}) == "98128 x 277 x 349");
  CHECK(to_string(Shape{5}) == "5");
  CHECK(to_string(Shape{}) == "scalar");
}

}  // namespace
}  // namespace chunkwise
