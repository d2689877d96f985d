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

TEST_CASE("A NaN of other bits is special") {
  const auto special = bytes_of(std::uint32_t{0xFFC00001});
  CHECK(is_special_nan(type("f4"), special));
  CHECK_FALSE(is_special_nan(type("f4"), bytes_of(std::uint32_t{0x7FC00000})));
  CHECK_FALSE(is_special_nan(type("i4"), special));
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
