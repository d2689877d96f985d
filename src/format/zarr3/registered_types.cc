#include "format/zarr3/registered_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"
#include "grid/strided_copy.h"

namespace chunkwise::zarr3 {
namespace {

constexpr std::string_view kComplex = "complex_";

struct SmallInteger {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
};
constexpr std::array<SmallInteger, 4> kIntegers{{{"int2", -2, 1}, {"int4", -8, 7}, {"uint2", 0, 3}, {"uint4", 0, 15}}};

// Which bits are no finite number.
enum class Specials {
  ieee,           // infinities and NaNs have the largest exponent
  nan_is_last,    // "fn": no infinities, all ones is NaN
  nan_is_minus0,  // "fnuz": no infinities, what would be -0 is NaN
  none,           // all are finite
  unsigned_,      // "e8m0fnu": an exponent without a sign, all ones is NaN
};
struct SmallFloat {
  std::string_view name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
};
constexpr std::array<SmallFloat, 12> kFloats{{
    {"bfloat16", 8, 7, 127, Specials::ieee},
    {"float4_e2m1fn", 2, 1, 1, Specials::none},
    {"float6_e2m3fn", 2, 3, 1, Specials::none},
    {"float6_e3m2fn", 3, 2, 3, Specials::none},
    {"float8_e3m4", 3, 4, 3, Specials::ieee},
    {"float8_e4m3", 4, 3, 7, Specials::ieee},
    {"float8_e4m3fn", 4, 3, 7, Specials::nan_is_last},
    {"float8_e4m3fnuz", 4, 3, 8, Specials::nan_is_minus0},
    {"float8_e4m3b11fnuz", 4, 3, 11, Specials::nan_is_minus0},
    {"float8_e5m2", 5, 2, 15, Specials::ieee},
    {"float8_e5m2fnuz", 5, 2, 16, Specials::nan_is_minus0},
    {"float8_e8m0fnu", 8, 0, 127, Specials::unsigned_},
}};

template <class Table>
auto find_row(const Table& table, std::string_view name) -> decltype(table.data()) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::size_t size_bytes(const SmallFloat& type) {
  return type.exponent_bits + type.mantissa_bits < 8 + (type.specials == Specials::unsigned_ ? 1 : 0) ? 1 : 2;
}

std::uint32_t sign_bit(const SmallFloat& type) {
  return type.specials == Specials::unsigned_ ? 0 : 1u << (type.exponent_bits + type.mantissa_bits);
}

double decode(const SmallFloat& type, std::uint32_t bits) {
  const std::uint32_t sign = sign_bit(type);
  const std::uint32_t all_ones = (1u << (type.exponent_bits + type.mantissa_bits)) - 1;
  const std::uint32_t magnitude = bits & all_ones;
  const auto exponent = static_cast<int>(magnitude >> type.mantissa_bits);
  const auto mantissa = static_cast<int>(magnitude & ((1u << type.mantissa_bits) - 1));
  const bool last_is_nan = type.specials == Specials::nan_is_last || type.specials == Specials::unsigned_;
  if ((last_is_nan && magnitude == all_ones) || (type.specials == Specials::nan_is_minus0 && bits == sign))
    return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  if (type.specials == Specials::ieee && exponent == (1 << type.exponent_bits) - 1) {
    value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0 && type.specials != Specials::unsigned_) {
    value = std::ldexp(mantissa, 1 - type.bias - type.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1 << type.mantissa_bits), exponent - type.bias - type.mantissa_bits);
  }
  return (bits & sign) != 0 ? -value : value;
}

std::uint32_t nan_bits(const SmallFloat& type) {
  switch (type.specials) {
    case Specials::ieee:  // quiet: also the first bit of the mantissa
      return ((2u << type.exponent_bits) - 1) << (type.mantissa_bits - 1);
    case Specials::nan_is_minus0:
      return sign_bit(type);
    default:
      return (1u << (type.exponent_bits + type.mantissa_bits)) - 1;
  }
}

// The nearest, of two the even one. There are few enough to try them all.
std::optional<std::uint32_t> encode(const SmallFloat& type, double value) {
  const std::uint32_t n_values = std::max(1u << (type.exponent_bits + type.mantissa_bits), 2 * sign_bit(type));
  std::optional<std::uint32_t> best;
  double best_distance = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::uint32_t bits = 0; bits < n_values; ++bits) {
    const double candidate = decode(type, bits);
    if (std::isnan(candidate)) continue;
    if (candidate == value && std::signbit(candidate) == std::signbit(value)) return bits;
    if (std::isinf(candidate)) continue;
    largest = std::max(largest, candidate);
    const double distance = std::abs(candidate - value);
    if (distance < best_distance || (distance == best_distance && bits % 2 == 0)) {
      best = bits;
      best_distance = distance;
    }
  }
  if (std::abs(value) > largest) return std::nullopt;
  return best;
}

void put_bits(std::uint32_t bits, MutableByteView out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t place = kNativeOrder == ByteOrder::little ? i : out.size() - 1 - i;
    out[place] = static_cast<std::byte>(bits >> (8 * i));
  }
}

std::optional<std::uint32_t> parse_bits(std::string_view text, std::size_t bytes) {
  if (text.substr(0, 2) != "0x" || text.size() != 2 + 2 * bytes) return std::nullopt;
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return bits;
}

bool read_float(const Json& value, const SmallFloat& type, MutableByteView out) {
  std::optional<std::uint32_t> bits;
  if (value.is_number()) {
    bits = encode(type, value.get<double>());
  } else if (is_value(value, "NaN")) {
    if (type.specials != Specials::none) bits = nan_bits(type);
  } else if (is_value(value, "Infinity") || is_value(value, "-Infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    bits = encode(type, is_value(value, "Infinity") ? infinity : -infinity);
  } else if (value.is_string()) {
    bits = parse_bits(value.get_ref<const std::string&>(), out.size());
  }
  if (bits) put_bits(*bits, out);
  return bits.has_value();
}

}  // namespace

std::optional<RegisteredType> find_registered_type(std::string_view name) {
  if (find_row(kIntegers, name) != nullptr) return RegisteredType{1, 1};
  const bool is_complex = name.substr(0, kComplex.size()) == kComplex;
  const SmallFloat* type = find_row(kFloats, is_complex ? name.substr(kComplex.size()) : name);
  if (type == nullptr) return std::nullopt;
  const std::size_t word = size_bytes(*type);
  return RegisteredType{is_complex ? 2 * word : word, word};
}

bool read_registered_fill(const Json& value, std::string_view name, MutableByteView out) {
  if (const SmallInteger* type = find_row(kIntegers, name)) {
    if (!value.is_number_integer() || value < type->least || value > type->most) return false;
    out[0] = static_cast<std::byte>(value.get<std::int64_t>());
    return true;
  }
  if (const SmallFloat* type = find_row(kFloats, name)) return read_float(value, *type, out);
  const SmallFloat* part = find_row(kFloats, name.substr(kComplex.size()));
  CHUNKWISE_CHECK(part != nullptr);
  const std::size_t half = out.size() / 2;
  return value.is_array() && value.size() == 2 && read_float(value[0], *part, out.first(half)) &&
         read_float(value[1], *part, out.subspan(half));
}

Json print_registered_fill(std::string_view name, ByteView element) {
  if (const SmallInteger* type = find_row(kIntegers, name)) {
    const auto bits = std::to_integer<unsigned>(element[0]);
    return type->least < 0 ? Json(static_cast<std::int8_t>(bits)) : Json(bits);
  }
  const auto type = find_registered_type(name);
  CHUNKWISE_CHECK(type && element.size() == type->bytes);
  Json words = Json::array();
  for (std::size_t at = 0; at < element.size(); at += type->word_bytes) {
    std::string bits = "0x";
    for (std::size_t i = 0; i < type->word_bytes; ++i) {
      const std::size_t place = kNativeOrder == ByteOrder::little ? type->word_bytes - 1 - i : i;
      bits += fmt::format("{:02x}", std::to_integer<unsigned>(element[at + place]));
    }
    words.push_back(bits);
  }
  return words.size() == 1 ? words.front() : words;
}

}  // namespace chunkwise::zarr3
