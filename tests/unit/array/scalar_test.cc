#include "array/scalar.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "../base/throws_code.h"
#include "base/base64.h"
#include "base/half.h"
#include "base/json.h"

namespace chunkwise {
namespace {

DType type(const char* name) {
  return *parse_dtype(name);
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

bool fits(const char* json, const char* dtype, Rounding rounding = Rounding::exact) {
  std::vector<std::byte> out(type(dtype).bytes);
  return element_from_json(parse_json(json), type(dtype), rounding, out);
}

TEST_CASE("Every half survives the way through double") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    REQUIRE(double_to_half(half_to_double(half)) == half);
  }
}

TEST_CASE("Halves are rounded to nearest, ties to even") {
  CHECK(double_to_half(1.0) == 0x3C00);
  CHECK(double_to_half(65504.0) == 0x7BFF);
  CHECK(double_to_half(65519.9) == 0x7BFF);
  CHECK(double_to_half(65520.0) == 0x7C00);
  CHECK(double_to_half(-1e300) == 0xFC00);
  CHECK(double_to_half(1.0 + 0x1p-11) == 0x3C00);
  CHECK(double_to_half(1.0 + 0x1p-11 + 0x1p-30) == 0x3C01);
  CHECK(double_to_half(1.0 + 3 * 0x1p-11) == 0x3C02);
  CHECK(double_to_half(0x1p-24) == 0x0001);
  CHECK(double_to_half(0x1p-25) == 0x0000);
  CHECK(double_to_half(0x1p-14 - 0x1p-26) == 0x0400);
  CHECK(double_to_half(2047.9999) == 0x6800);
  CHECK(double_to_half(-0.0) == 0x8000);
}

TEST_CASE("JSON numbers are elements only if the type holds them") {
  CHECK(fits("127", "i1"));
  CHECK_FALSE(fits("128", "i1"));
  CHECK(fits("-128", "i1"));
  CHECK_FALSE(fits("-129", "i1"));
  CHECK_FALSE(fits("-1", "u8"));
  CHECK(fits("18446744073709551615", "u8"));
  CHECK_FALSE(fits("18446744073709551615", "i8"));
  CHECK(fits("-9223372036854775808", "i8"));
  CHECK(fits("3.0", "i4"));
  CHECK_FALSE(fits("3.5", "i4"));
  CHECK_FALSE(fits("NaN", "i4"));
  CHECK_FALSE(fits("true", "i4"));
  CHECK(fits("0.10000000149011612", "f4"));
  CHECK_FALSE(fits("0.1", "f4"));
  CHECK(fits("0.1", "f4", Rounding::nearest));
  CHECK(fits("NaN", "f2"));
  CHECK_FALSE(fits("1e39", "f4"));
  CHECK(fits("9007199254740992", "f8"));
  CHECK_FALSE(fits("9007199254740993", "f8"));
  CHECK_FALSE(fits("18446744073709551615", "f8"));
  CHECK(fits("true", "bool"));
  CHECK_FALSE(fits("1", "bool"));
  CHECK_FALSE(fits("\"1\"", "i4"));
  CHECK_FALSE(fits("null", "f8"));
}

TEST_CASE("Elements become the JSON numbers they are") {
  const auto json = [](const char* dtype, const auto& value) {
    return dump_json(element_to_json(type(dtype), bytes_of(value)));
  };
  CHECK(json("i1", std::int8_t{-128}) == "-128");
  CHECK(json("u1", std::uint8_t{200}) == "200");
  CHECK(json("i8", std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(json("u8", std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(json("f4", 0.1F) == "0.10000000149011612");
  CHECK(json("f8", 3.0) == "3.0");
  CHECK(json("f8", std::nan("")) == "NaN");
  CHECK(json("bool", std::uint8_t{1}) == "true");
}

TEST_CASE("Fill values are understood in all their spellings") {
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
  CHECK(is_special_nan(type("f4"), special));
  CHECK_FALSE(is_special_nan(type("f4"), bytes_of(std::uint32_t{0x7FC00000})));
  CHECK_FALSE(is_special_nan(type("i4"), special));
  CHECK(fill_to_json(type("f4"), special, true) == Json("0xffc00001"));
  CHECK(fill_to_json(type("f4"), special, false) == Json("NaN"));
  CHECK(fill_to_json(type("f8"), bytes_of(std::nan("")), true) == Json("NaN"));
}

TEST_CASE("Base64 is strict") {
  const auto text = [](std::string_view base64) -> std::string {
    const auto bytes = from_base64(base64);
    return bytes ? std::string(as_text(*bytes)) : "(malformed)";
  };
  for (const char* plain : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    CHECK(text(to_base64(as_bytes(plain))) == plain);
  }
  CHECK(to_base64(as_bytes("fooba")) == "Zm9vYmE=");
  CHECK(text("Zm9v!mE=") == "(malformed)");
  CHECK(text("Zm9vYmE") == "(malformed)");
  CHECK(text("Zg=v") == "(malformed)");
  CHECK(text("====") == "(malformed)");
}

}  // namespace
}  // namespace chunkwise
