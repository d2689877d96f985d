#include "array/fill_json.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "../base/throws_code.h"
#include "base/json.h"

namespace chunkwise {
namespace {

using Kind = DType::Kind;

DType type(const char* name) {
  return *parse_dtype(name);
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

std::vector<std::byte> fill(const char* json, const DType& dtype) {
  return fill_from_json(parse_json(json), dtype);
}

std::string spelled(const DType& dtype, const std::vector<std::byte>& element, FillStyle style) {
  return dump_json(fill_to_json(dtype, element, style));
}

DType::Member member(const char* name, DType dtype, ByteOrder order = ByteOrder::little, Shape shape = {}) {
  return {name, std::move(dtype), shape, order};
}

}  // namespace

TEST_CASE("Fill values of numbers are understood in all their spellings") {
  const auto fill = [](const char* json, const char* dtype) { return fill_from_json(parse_json(json), type(dtype)); };
  CHECK(fill("0", "f4") == bytes_of(0.0F));
  CHECK(fill("0.0", "i4") == bytes_of(std::int32_t{0}));
  CHECK(fill("\"0\"", "f4") == bytes_of(0.0F));
  CHECK(fill("\"-1.5\"", "f8") == bytes_of(-1.5));
  CHECK(fill("[-32767]", "i2") == bytes_of(std::int16_t{-32767}));
  CHECK(fill("\"Infinity\"", "f4") == bytes_of(std::numeric_limits<float>::infinity()));
  CHECK(fill("\"-Infinity\"", "f8") == bytes_of(-std::numeric_limits<double>::infinity()));
  CHECK(fill("\"NaN\"", "f4") == bytes_of(std::uint32_t{0x7FC00000}));
  CHECK(fill("NaN", "f8") == bytes_of(std::uint64_t{0x7FF8000000000000}));
  CHECK(fill("\"0xffc00001\"", "f4") == bytes_of(std::uint32_t{0xFFC00001}));
  CHECK(fill("\"0x7e01\"", "f2") == bytes_of(std::uint16_t{0x7E01}));
  CHECK(fill("1", "bool") == bytes_of(std::uint8_t{1}));
  CHECK(fill("0.0", "bool") == bytes_of(std::uint8_t{0}));
  CHECK(fill("false", "bool") == bytes_of(std::uint8_t{0}));
  CHECK(fill("9.969209968386869e+36", "f4") == bytes_of(9.969209968386869e+36F));
  CHECK(fill("1e300", "f4") == bytes_of(std::numeric_limits<float>::infinity()));
  for (const char* bad : {"null", "\"\"", "\"abc\"", "[]", "[1,2]", "[[1]]", "{}", "\"0x7fc0000\"", "\"0x7fc0000g\""}) {
    REQUIRE_ERROR(fill(bad, "f4"), Code::corrupt, "fill_value");
  }
  REQUIRE_ERROR(fill("256", "u1"), Code::corrupt, "256");
  REQUIRE_ERROR(fill("1.5", "i4"), Code::corrupt, "1.5");
  REQUIRE_ERROR(fill("2", "bool"), Code::corrupt);
  REQUIRE_ERROR(fill("\"NaN\"", "i4"), Code::corrupt);
}

TEST_CASE("A NaN keeps its bits where the format can say them") {
  const auto special = bytes_of(std::uint32_t{0xFFC00001});
  CHECK(spelled(type("f4"), special, FillStyle::zarr3) == "\"0xffc00001\"");
  CHECK(spelled(type("f4"), special, FillStyle::zarr2) == "\"NaN\"");
  CHECK(spelled(type("f8"), bytes_of(std::nan("")), FillStyle::zarr3) == "\"NaN\"");
}

TEST_CASE("Complex fill values are pairs") {
  const DType dtype = type("c8");
  const std::pair<float, float> value{1.5F, -0.0F};
  CHECK(fill("[1.5, -0.0]", dtype) == bytes_of(value));
  CHECK(fill("[[1.5, -0.0]]", dtype) == bytes_of(value));
  CHECK(fill("1.5", dtype) == bytes_of(std::pair<float, float>{1.5F, 0.0F}));
  const auto special = fill("[\"0x7fc00001\", \"-Infinity\"]", dtype);
  CHECK(special == bytes_of(std::pair<std::uint32_t, std::uint32_t>{0x7FC00001, 0xFF800000}));
  CHECK(spelled(dtype, special, FillStyle::zarr3) == "[\"0x7fc00001\",\"-Infinity\"]");
  CHECK(spelled(dtype, special, FillStyle::zarr2) == "[\"NaN\",\"-Infinity\"]");
  CHECK(spelled(type("c16"), fill("[1, 2]", type("c16")), FillStyle::zarr2) == "[1.0,2.0]");
  REQUIRE_ERROR(fill("[1, 2, 3]", dtype), Code::corrupt, "c8");
  REQUIRE_ERROR(fill("[1, null]", dtype), Code::corrupt, "c8");
}

TEST_CASE("Datetimes are whole numbers or NaT") {
  DType dtype(Kind::datetime, 8);
  dtype.unit = "us";
  const auto least = bytes_of(std::numeric_limits<std::int64_t>::min());
  CHECK(fill("\"NaT\"", dtype) == least);
  CHECK(fill("-9223372036854775808", dtype) == least);
  CHECK(fill("12", dtype) == bytes_of(std::int64_t{12}));
  CHECK(spelled(dtype, least, FillStyle::zarr2) == "-9223372036854775808");
  CHECK(spelled(dtype, least, FillStyle::zarr3) == "\"NaT\"");
  CHECK(spelled(dtype, bytes_of(std::int64_t{-3}), FillStyle::zarr3) == "-3");
  REQUIRE_ERROR(fill("1.5", dtype), Code::corrupt, "M8[us]");
}

TEST_CASE("Texts are base64, themselves, or digits") {
  const DType three(Kind::text, 3);
  CHECK(fill("\"YWI=\"", three) == bytes_of(std::string_view("ab\0", 3)));
  CHECK(fill("\"\"", three) == bytes_of(std::string_view("\0\0\0", 3)));
  CHECK(fill("\"N/A\"", three) == bytes_of(std::string_view("N/A")));
  CHECK(fill("0", three) == bytes_of(std::string_view("0\0\0", 3)));  // as zarr-python 2 reads it
  CHECK(fill("\"YWIAAAAA\"", three) == bytes_of(std::string_view("ab\0", 3)));
  CHECK(spelled(three, bytes_of(std::string_view("ab\0", 3)), FillStyle::zarr3) == "\"YWI=\"");
  REQUIRE_ERROR(fill("\"YWJjZA==\"", three), Code::corrupt, "S3");

  const DType wide(Kind::utf32, 12);
  const std::u32string points{U'\u00e4', U'\U0001F600', U'\0'};
  const auto element = fill("\"\u00e4\U0001F600\"", wide);
  CHECK(std::memcmp(element.data(), points.data(), 12) == 0);
  CHECK(spelled(wide, element, FillStyle::zarr2) == "\"\u00e4\U0001F600\"");
  CHECK(fill("7", wide) == fill("\"7\"", wide));
  REQUIRE_ERROR(fill("\"abcd\"", wide), Code::corrupt, "U3");
  REQUIRE_ERROR(fill_to_json(wide, bytes_of(std::array<std::uint32_t, 3>{0x110000, 0, 0}), FillStyle::zarr3),
                Code::unsupported, "0x110000");
}

TEST_CASE("Raw bytes are base64 or a list") {
  const DType dtype(Kind::raw, 3);
  const auto value = bytes_of(std::string_view("\x01\x02\xff"));
  CHECK(fill("\"AQL/\"", dtype) == value);
  CHECK(fill("[1, 2, 255]", dtype) == value);
  CHECK(fill("0", dtype) == std::vector<std::byte>(3));
  CHECK(spelled(dtype, value, FillStyle::zarr3) == "\"AQL/\"");
  for (const char* bad : {"[1, 2]", "[1, 2, 256]", "\"AQI=\"", "1", "[1, 2, -1]"})
    REQUIRE_ERROR(fill(bad, dtype), Code::corrupt, "V3");
}

TEST_CASE("Structured types are base64, objects or lists, in the byte orders of their members") {
  const DType inner = structured_type({member("x", type("u1")), member("y", type("f4"), ByteOrder::big)});
  const DType dtype = structured_type({member("a", type("i2"), ByteOrder::big), member("p", inner)});
  const auto value = bytes_of(std::string_view("\x01\x02\x03\x3f\x80\x00\x00", 7));
  CHECK(dtype.bytes == 7);
  CHECK(fill("\"AQIDP4AAAA==\"", dtype) == value);
  CHECK(fill("{\"p\": {\"y\": 1, \"x\": 3}, \"a\": 258, \"more\": 0}", dtype) == value);
  CHECK(fill("[258, [3, 1.0]]", dtype) == value);
  CHECK(fill("0", dtype) == std::vector<std::byte>(7));
  CHECK(spelled(dtype, value, FillStyle::zarr2) == "\"AQIDP4AAAA==\"");
  CHECK(spelled(dtype, value, FillStyle::zarr3) == R"({"a":258,"p":{"x":3,"y":1.0}})");
  REQUIRE_ERROR(fill("{\"a\": 1}", dtype), Code::corrupt, "compound of 2 members");
  REQUIRE_ERROR(fill("\"AQ==\"", dtype), Code::corrupt, "compound of 2 members");

  const DType list = structured_type({member("v", type("u1"), ByteOrder::little, Shape{2, 2})});
  CHECK(fill("[[[1, 2], [3, 4]]]", list) == bytes_of(std::string_view("\1\2\3\4")));
  CHECK(fill("{\"v\": 7}", list) == bytes_of(std::string_view("\7\7\7\7")));
  REQUIRE_ERROR(fill_to_json(list, std::vector<std::byte>(4), FillStyle::zarr3), Code::unsupported, "array");
}

}  // namespace chunkwise
