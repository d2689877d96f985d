#include "array/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/half.h"
#include "base/json.h"

namespace chunkwise {
namespace {

template <class T>
T load(ByteView element) {
  T value{};
  CHUNKWISE_CHECK(element.size() == sizeof(T));
  std::memcpy(&value, element.data(), sizeof(T));
  return value;
}

template <class T>
bool store(T value, MutableByteView out) {
  CHUNKWISE_CHECK(out.size() == sizeof(T));
  std::memcpy(out.data(), &value, sizeof(T));
  return true;
}

// The bits of an element as an integer, and back.
std::uint64_t load_bits(ByteView element) {
  switch (element.size()) {
    case 1:
      return load<std::uint8_t>(element);
    case 2:
      return load<std::uint16_t>(element);
    case 4:
      return load<std::uint32_t>(element);
    default:
      return load<std::uint64_t>(element);
  }
}

void store_bits(std::uint64_t bits, MutableByteView out) {
  switch (out.size()) {
    case 1:
      store(static_cast<std::uint8_t>(bits), out);
      break;
    case 2:
      store(static_cast<std::uint16_t>(bits), out);
      break;
    case 4:
      store(static_cast<std::uint32_t>(bits), out);
      break;
    default:
      store(bits, out);
  }
}

double load_float(const DType& dtype, ByteView element) {
  switch (dtype.bytes) {
    case 2:
      return half_to_double(load<std::uint16_t>(element));
    case 4:
      return static_cast<double>(load<float>(element));
    default:
      return load<double>(element);
  }
}

float to_float(double value) {
  // Beyond the range the conversion is undefined in C++, so say what IEEE says: values below the midpoint between the
  // largest float and the next power of two round down to it.
  constexpr double kMidpoint = 0x1.ffffffp+127;
  if (std::abs(value) >= kMidpoint) {
    return std::copysign(std::numeric_limits<float>::infinity(), value > 0 ? 1.0F : -1.0F);
  }
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    return std::copysign(std::numeric_limits<float>::max(), value > 0 ? 1.0F : -1.0F);
  }
  return static_cast<float>(value);
}

bool store_float(double value, const DType& dtype, Rounding rounding, MutableByteView out) {
  switch (dtype.bytes) {
    case 2:
      store(double_to_half(value), out);
      break;
    case 4:
      store(std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : to_float(value), out);
      break;
    default:
      store(value, out);
  }
  if (rounding == Rounding::nearest || std::isnan(value)) return true;
  const double kept = load_float(dtype, out);
  return kept == value;
}

// The value as a whole number of 65 bits: magnitude and sign. Nothing if it has a fraction or is larger.
struct Whole {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

std::optional<Whole> to_whole(const Json& value) {
  if (value.is_number_unsigned()) return Whole{false, value.get<std::uint64_t>()};
  if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (number >= 0) return Whole{false, static_cast<std::uint64_t>(number)};
    return Whole{true, std::uint64_t{0} - static_cast<std::uint64_t>(number)};
  }
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number) || number != std::trunc(number) || std::abs(number) >= 0x1p64) return std::nullopt;
  return Whole{number < 0, static_cast<std::uint64_t>(std::abs(number))};
}

bool store_integer(const Whole& whole, const DType& dtype, MutableByteView out) {
  const int bits = static_cast<int>(dtype.bytes * 8);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  if (dtype.kind == DType::Kind::uint) {
    if ((whole.negative && whole.magnitude != 0) || whole.magnitude > all) return false;
    store_bits(whole.magnitude, out);
    return true;
  }
  const std::uint64_t largest = all >> 1;
  if (whole.magnitude > largest + (whole.negative ? 1 : 0)) return false;
  store_bits((whole.negative ? std::uint64_t{0} - whole.magnitude : whole.magnitude) & all, out);
  return true;
}

}  // namespace

bool element_from_json(const Json& value, const DType& dtype, Rounding rounding, MutableByteView out) {
  switch (dtype.kind) {
    case DType::Kind::boolean:
      if (!value.is_boolean()) return false;
      return store(static_cast<std::uint8_t>(value.get<bool>() ? 1 : 0), out);
    case DType::Kind::int_:
    case DType::Kind::uint: {
      const auto whole = to_whole(value);
      return whole && store_integer(*whole, dtype, out);
    }
    case DType::Kind::float_: {
      const auto nearest = to_double(value);
      if (!nearest) return false;
      const double number = *nearest;
      if (value.is_number_integer() && rounding == Rounding::exact) {
        const auto whole = to_whole(value);
        if (std::abs(number) >= 0x1p64 || static_cast<std::uint64_t>(std::abs(number)) != whole->magnitude)
          return false;
      }
      if (value.is_binary() && rounding == Rounding::exact && dump_json(value) != fmt::format("{:.0f}", number))
        return false;
      return store_float(number, dtype, rounding, out);
    }
    default:
      return false;
  }
}

Json element_to_json(const DType& dtype, ByteView element) {
  switch (dtype.kind) {
    case DType::Kind::boolean:
      return Json(load<std::uint8_t>(element) != 0);
    case DType::Kind::int_: {
      const int unused_bits = static_cast<int>(64 - dtype.bytes * 8);
      return Json(static_cast<std::int64_t>(load_bits(element) << unused_bits) >> unused_bits);
    }
    case DType::Kind::uint:
      return Json(load_bits(element));
    case DType::Kind::float_:
      return Json(load_float(dtype, element));
    default:
      CHUNKWISE_CHECK(dtype.is_number());
      return Json(nullptr);
  }
}

bool is_special_nan(const DType& dtype, ByteView element) {
  if (dtype.kind != DType::Kind::float_ || !std::isnan(load_float(dtype, element))) return false;
  std::byte plain[8];
  const MutableByteView out(plain, dtype.bytes);
  store_float(std::numeric_limits<double>::quiet_NaN(), dtype, Rounding::nearest, out);
  return load_bits(out) != load_bits(element);
}

std::vector<std::byte> in_order(ByteView native_element, const DType& dtype, ByteOrder order) {
  std::vector<std::byte> out(native_element.begin(), native_element.end());
  if (order != kNativeOrder) swap_words(dtype, out);
  return out;
}

}  // namespace chunkwise
