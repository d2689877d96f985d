#include "array/fill_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "array/json_fields.h"
#include "array/scalar.h"
#include "array/varying_fill_json.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"

namespace chunkwise {
namespace {

using Kind = DType::Kind;

constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

bool read_fill(const Json& value, const DType& dtype, MutableByteView out);

// "0x7fc00000": exactly two digits for each byte.
bool read_hex(std::string_view text, MutableByteView out) {
  if (text.substr(0, 2) != "0x" || text.size() != 2 + 2 * out.size()) return false;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t place = kNativeOrder == ByteOrder::little ? i : out.size() - 1 - i;
    out[place] = static_cast<std::byte>(bits >> (8 * i));
  }
  return true;
}

bool read_quoted_number(const std::string& text, const DType& dtype, MutableByteView out) {
  if (dtype.kind == Kind::float_) {
    std::optional<double> special;
    if (text == "NaN") special = std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") special = std::numeric_limits<double>::infinity();
    if (text == "-Infinity") special = -std::numeric_limits<double>::infinity();
    if (special) return element_from_json(Json(*special), dtype, Rounding::nearest, out);
    if (read_hex(text, out)) return true;
  }
  if (text.empty() || text.size() > 64) return false;
  try {
    const Json number = parse_json(text);
    return to_double(number) && element_from_json(number, dtype, Rounding::nearest, out);
  } catch (const Error&) {
    return false;
  }
}

bool read_number(const Json& value, const DType& dtype, MutableByteView out) {
  if (value.is_string()) return read_quoted_number(value.get_ref<const std::string&>(), dtype, out);
  if (dtype.kind == Kind::boolean && value.is_number()) {
    if (value != Json(0) && value != Json(1)) return false;
    return element_from_json(Json(value == Json(1)), dtype, Rounding::nearest, out);
  }
  if (value.is_boolean() && dtype.kind != Kind::boolean) {
    return element_from_json(Json(value.get<bool>() ? 1 : 0), dtype, Rounding::nearest, out);
  }
  return element_from_json(value, dtype, Rounding::nearest, out);
}

bool read_complex(const Json& value, const DType& dtype, MutableByteView out) {
  const DType part(Kind::float_, dtype.bytes / 2);
  if (!value.is_array()) return read_number(value, part, out.first(part.bytes));
  return value.size() == 2 && read_number(value[0], part, out.first(part.bytes)) &&
         read_number(value[1], part, out.subspan(part.bytes));
}

bool read_time(const Json& value, MutableByteView out) {
  const DType count(Kind::int_, sizeof(std::int64_t));
  return read_number(is_value(value, "NaT") ? Json(kNotATime) : value, count, out);
}

bool put_bytes(ByteView bytes, MutableByteView out) {
  const std::size_t n = std::min(bytes.size(), out.size());
  const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
  if (!std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(n), bytes.end(), is_zero)) return false;
  std::copy_n(bytes.begin(), n, out.begin());
  return true;
}

// The code points of UTF-8 that parse_json has let through.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = n == 1 ? lead : lead & (0x7Fu >> n);
    for (std::size_t i = 1; i < n && at + i < text.size(); ++i) {
      point = (point << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    }
    points += point;
    at += n;
  }
  return points;
}

bool put_text(std::string_view text, const DType& dtype, MutableByteView out) {
  if (dtype.kind == Kind::text) return put_bytes(as_bytes(text), out);
  const std::u32string points = code_points(text);
  return put_bytes(std::as_bytes(std::span(points.data(), points.size())), out);
}

bool read_text(const Json& value, const DType& dtype, MutableByteView out) {
  if (value.is_number_integer()) return put_text(dump_json(value), dtype, out);
  if (!value.is_string()) return false;
  const std::string& text = value.get_ref<const std::string&>();
  if (dtype.kind == Kind::text) {
    if (const auto bytes = from_base64(text)) return put_bytes(*bytes, out);
  }
  return put_text(text, dtype, out);
}

bool read_base64(const Json& value, MutableByteView out) {
  if (!value.is_string()) return false;
  const auto bytes = from_base64(value.get_ref<const std::string&>());
  if (!bytes || bytes->size() != out.size()) return false;
  std::copy(bytes->begin(), bytes->end(), out.begin());
  return true;
}

bool read_raw(const Json& value, MutableByteView out) {
  if (is_value(value, std::int64_t{0}) || read_base64(value, out)) return true;
  if (!value.is_array() || value.size() != out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!value[i].is_number_unsigned() || value[i].get<std::uint64_t>() > 255) return false;
    out[i] = static_cast<std::byte>(value[i].get<std::uint64_t>());
  }
  return true;
}

// One value for all of an array, or a nested list.
bool read_member(const Json& value, const DType::Member& member, int axis, MutableByteView out) {
  if (axis == member.shape.rank()) {
    if (!read_fill(value, member.type, out)) return false;
    if (member.byte_order != kNativeOrder) swap_words(member.type, out);
    return true;
  }
  const auto n = static_cast<std::size_t>(member.shape[axis]);
  const std::size_t bytes = n == 0 ? 0 : out.size() / n;
  const bool is_list = value.is_array() && value.size() == n;
  for (std::size_t i = 0; i < n; ++i) {
    if (!read_member(is_list ? value[i] : value, member, axis + 1, out.subspan(i * bytes, bytes))) return false;
  }
  return true;
}

bool read_structured(const Json& value, const DType& dtype, MutableByteView out) {
  if (is_value(value, std::int64_t{0}) || read_base64(value, out)) return true;
  if (!value.is_object() && !(value.is_array() && value.size() == dtype.members.size())) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < dtype.members.size(); ++i) {
    const DType::Member& member = dtype.members[i];
    const Json* found = value.is_object() ? find_member(value, member.name) : &value[i];
    if (found == nullptr || !read_member(*found, member, 0, out.subspan(at, member.bytes()))) return false;
    at += member.bytes();
  }
  return true;
}

bool read_fill(const Json& value, const DType& dtype, MutableByteView out) {
  switch (dtype.kind) {
    case Kind::complex_:
      return read_complex(value, dtype, out);
    case Kind::datetime:
    case Kind::timedelta:
      return read_time(value, out);
    case Kind::text:
    case Kind::utf32:
      return read_text(value, dtype, out);
    case Kind::raw:
      return read_raw(value, out);
    case Kind::structured:
      return read_structured(value, dtype, out);
    case Kind::other:
      return false;
    default:
      return read_number(value, dtype, out);
  }
}

Json float_to_json(const DType& dtype, ByteView element, FillStyle style) {
  const Json number = element_to_json(dtype, element);
  const double value = number.get<double>();
  if (std::isinf(value)) return Json(value > 0 ? "Infinity" : "-Infinity");
  if (!std::isnan(value)) return number;
  if (style == FillStyle::zarr2 || !is_special_nan(dtype, element)) return Json("NaN");
  std::string bits = "0x";
  for (std::size_t i = 0; i < element.size(); ++i) {
    const std::size_t place = kNativeOrder == ByteOrder::little ? element.size() - 1 - i : i;
    bits += fmt::format("{:02x}", std::to_integer<unsigned>(element[place]));
  }
  return Json(bits);
}

Json utf32_to_json(ByteView element) {
  std::string text;
  std::size_t length = 0;
  for (std::size_t at = 0; at + 4 <= element.size(); at += 4) {
    char32_t point = 0;
    std::memcpy(&point, element.data() + at, sizeof point);
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      throw Error(Code::unsupported, fmt::format("the fill value has {:#x}, which is no Unicode character",
                                                 static_cast<std::uint32_t>(point)));
    if (point < 0x80) {
      text += static_cast<char>(point);
    } else {
      const int n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      text += static_cast<char>((0xF00u >> n) | (point >> (6 * (n - 1))));
      for (int i = n - 2; i >= 0; --i) text += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
    }
    if (point != 0) length = text.size();
  }
  text.resize(length);
  return Json(text);
}

Json structured_to_json(const DType& dtype, ByteView element) {
  Json object = Json::object();
  std::size_t at = 0;
  for (const DType::Member& member : dtype.members) {
    if (member.shape.rank() > 0)
      throw Error(Code::unsupported, "Zarr v3 has no fill value for an array in a structured type");
    const auto value = from_order(element.subspan(at, member.bytes()), member.type, member.byte_order);
    append_member(object, member.name, fill_to_json(member.type, value, FillStyle::zarr3));
    at += member.bytes();
  }
  return object;
}

}  // namespace

std::vector<std::byte> fill_from_json(const Json& value, const DType& dtype) {
  if (dtype.is_varying()) return varying_fill_from_json(value, dtype);
  std::vector<std::byte> out(dtype.bytes);
  if (read_fill(value, dtype, out)) return out;
  if (value.is_array() && value.size() == 1) {  // as NCZarr once wrote it
    std::fill(out.begin(), out.end(), std::byte{0});
    if (read_fill(value.front(), dtype, out)) return out;
  }
  throw Error(Code::corrupt, fmt::format("fill_value {} is no value of type {}", quote(value), dtype.name()));
}

Json fill_to_json(const DType& dtype, ByteView element, FillStyle style) {
  if (dtype.is_varying()) return varying_fill_to_json(element, dtype);
  CHUNKWISE_CHECK(element.size() == dtype.bytes);
  switch (dtype.kind) {
    case Kind::float_:
      return float_to_json(dtype, element, style);
    case Kind::complex_: {
      const DType part(Kind::float_, dtype.bytes / 2);
      return Json::array({float_to_json(part, element.first(part.bytes), style),
                          float_to_json(part, element.subspan(part.bytes), style)});
    }
    case Kind::datetime:
    case Kind::timedelta: {
      Json count = element_to_json(DType(Kind::int_, dtype.bytes), element);
      return style == FillStyle::zarr3 && is_value(count, kNotATime) ? Json("NaT") : count;
    }
    case Kind::text:
      while (!element.empty() && element.back() == std::byte{0}) element = element.first(element.size() - 1);
      return Json(to_base64(element));
    case Kind::utf32:
      return utf32_to_json(element);
    case Kind::raw:
      return Json(to_base64(element));
    case Kind::structured:
      return style == FillStyle::zarr3 ? structured_to_json(dtype, element) : Json(to_base64(element));
    default:
      return element_to_json(dtype, element);
  }
}

}  // namespace chunkwise
