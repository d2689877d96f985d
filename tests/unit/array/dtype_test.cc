#include "array/dtype.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

#include "../base/throws_code.h"

namespace chunkwise {
namespace {

using Kind = DType::Kind;

DType::Member member(const char* name, DType dtype, ByteOrder order, Shape shape = {}) {
  return {name, std::move(dtype), shape, order};
}

}  // namespace

TEST_CASE("Types have names, sizes and words") {
  const auto check = [](const DType& dtype, const char* name, std::size_t bytes, std::size_t word) {
    CHECK(dtype.name() == name);
    CHECK(dtype.element().bytes == bytes);
    CHECK(dtype.element().word_bytes == word);
  };
  check(*parse_dtype("complex64"), "c8", 8, 4);
  check(*parse_dtype("c16"), "c16", 16, 8);
  check(DType(Kind::text, 5), "S5", 5, 1);
  check(DType(Kind::utf32, 20), "U5", 20, 4);
  check(DType(Kind::raw, 3), "V3", 3, 1);
  DType time(Kind::datetime, 8);
  time.unit = "us";
  check(time, "M8[us]", 8, 8);
  time.n_units = 10;
  check(time, "M8[10us]", 8, 8);
  time.kind = Kind::timedelta;
  time.unit = "generic";
  time.n_units = 1;
  check(time, "m8", 8, 8);
  DType choice = *parse_dtype("i2");
  choice.names = {{"off", 0}, {"on", 1}};
  check(choice, "enum of 2 members", 2, 2);
  CHECK(choice.is_number());
  CHECK(choice != *parse_dtype("i2"));
  CHECK_FALSE(time.is_number());
}

TEST_CASE("Members lie one after the other and have byte orders of their own") {
  const DType inner = structured_type(
      {member("y", *parse_dtype("f4"), ByteOrder::big, Shape{2}), member("z", *parse_dtype("u1"), ByteOrder::little)});
  DType outer = structured_type(
      {member("a", *parse_dtype("i2"), ByteOrder::big), member("p", inner, ByteOrder::little, Shape{2})});
  CHECK(outer.bytes == 20);
  CHECK(outer.name() == "compound of 2 members");
  CHECK(outer.element().word_bytes == 1);
  CHECK(has_byte_order(outer));
  CHECK(common_byte_order(outer) == ByteOrder::big);
  const DType big = outer;
  set_member_order(outer, ByteOrder::little);
  CHECK(common_byte_order(outer) == ByteOrder::little);
  CHECK(outer != big);

  std::vector<std::byte> elements;
  for (int i = 0; i < 40; ++i) elements.push_back(static_cast<std::byte>(i));
  reorder_members(big, outer, elements);
  const std::vector<int> one{1, 0, 5, 4, 3, 2, 9, 8, 7, 6, 10, 14, 13, 12, 11, 18, 17, 16, 15, 19};
  for (std::size_t i = 0; i < 40; ++i) CHECK(std::to_integer<int>(elements[i]) == one[i % 20] + (i < 20 ? 0 : 20));

  outer.members[0].byte_order = ByteOrder::big;
  CHECK_FALSE(common_byte_order(outer));
  CHECK_FALSE(has_byte_order(structured_type({member("s", DType(Kind::text, 9), ByteOrder::little)})));
}

TEST_CASE("Structures of impossible sizes are refused") {
  REQUIRE_ERROR(structured_type({}), Code::corrupt, "no bytes");
  REQUIRE_ERROR(
      structured_type({member("a", *parse_dtype("f8"), ByteOrder::little, Shape{Index{1} << 40, Index{1} << 40})}),
      Code::corrupt, "2^31");
  REQUIRE_ERROR(structured_type({member("a", *parse_dtype("f8"), ByteOrder::little, Shape{Index{1} << 28}),
                                 member("b", *parse_dtype("f8"), ByteOrder::little)}),
                Code::corrupt, "2^31");
}

}  // namespace chunkwise
