#include "array/numpy_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"

namespace chunkwise {
namespace {

using Kind = DType::Kind;

constexpr std::size_t kMaxElementBytes = std::size_t{1} << 30;

constexpr std::array<std::string_view, 13> kUnits{"Y",  "M",  "W",  "D",  "h",  "m", "s",
                                                  "ms", "us", "ns", "ps", "fs", "as"};

// Floats that other machines may not have; their bits mean nothing here.
constexpr std::array<std::string_view, 4> kWideFloats{"f12", "f16", "c24", "c32"};

[[noreturn]] void malformed(const Json& value, const char* why) {
  throw Error(Code::corrupt, fmt::format("'dtype' is {}, {}", quote(value), why));
}

// "[us]", "[10us]"; "" is of no known unit.
bool parse_unit(std::string_view text, DType& dtype) {
  if (text.empty()) {
    dtype.unit = "generic";
    return true;
  }
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), dtype.n_units);
  if (rest != text.data()) {
    if (error != std::errc{} || dtype.n_units < 1) return false;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  }
  if (text == "\xCE\xBCs") text = "us";
  dtype.unit = text;
  return std::find(kUnits.begin(), kUnits.end(), text) != kUnits.end() || (text == "generic" && dtype.n_units == 1);
}

NumpyType parse_type_string(const Json& value) {
  const auto refuse = [&] { malformed(value, "no type of Zarr v2"); };
  const std::string& text = need_string(value, "dtype");
  if (text.size() < 2 || (text[0] != '<' && text[0] != '>' && text[0] != '|')) refuse();
  const char kind = text[1];
  std::size_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, size);
  if (error == std::errc::result_out_of_range) malformed(value, "too large a type");
  const bool is_sized = error == std::errc{} && rest == end;

  NumpyType type;
  DType& dtype = type.dtype;
  if (text[0] == '>') type.byte_order = ByteOrder::big;
  switch (kind) {
    case 'b':
    case 'i':
    case 'u':
    case 'f':
    case 'c': {
      const auto known = parse_dtype(text == "|b1" || text == "<b1" || text == ">b1" ? "bool" : text.substr(1));
      const bool is_wide = std::find(kWideFloats.begin(), kWideFloats.end(), text.substr(1)) != kWideFloats.end();
      if (!is_sized || (!known && !is_wide)) refuse();
      if (text[0] == '|' && size > 1) malformed(value, "a type without a byte order");
      if (known) {
        dtype = *known;
      } else {
        dtype = DType(Kind::other, size);
        dtype.other = text.substr(1);
      }
      break;
    }
    case 'M':
    case 'm':
      if (error != std::errc{} || size != 8 || text[0] == '|') refuse();
      dtype = DType(kind == 'M' ? Kind::datetime : Kind::timedelta, size);
      if (!parse_unit(std::string_view(rest, static_cast<std::size_t>(end - rest)), dtype)) refuse();
      break;
    case 'S':
    case 'V':
      if (!is_sized || size > kMaxElementBytes) refuse();
      dtype = DType(kind == 'S' ? Kind::text : Kind::raw, size);
      break;
    case 'U':
      if (!is_sized || size > kMaxElementBytes / 4) refuse();
      dtype = DType(Kind::utf32, 4 * size);
      break;
    case 'O':
      if (text.size() > 2) refuse();
      dtype = DType(Kind::other, 0);
      dtype.other = text;
      break;
    default:
      refuse();
  }
  if (dtype.bytes == 0) type.unsupported = "data type " + quote_name(text);
  if (dtype.element().word_bytes == 1 && dtype.kind != Kind::other) type.byte_order = ByteOrder::little;
  return type;
}

Shape parse_member_shape(const Json& field, const Json& whole) {
  if (field.is_number_unsigned() && field.get<std::uint64_t>() <= kMaxElementBytes) return Shape{field.get<Index>()};
  if (!field.is_array()) malformed(whole, "with a field whose shape is none");
  return need_extents(field, "dtype", 0);
}

// [[name, type], [name, type, shape], ...]; no name twice, but for gaps, which have none.
NumpyType parse_fields(const Json& value, TypeWords words) {
  const auto refuse = [&] { malformed(value, "no list of named fields"); };
  if (value.empty()) refuse();
  NumpyType type;
  std::vector<DType::Member> members;
  std::unordered_set<std::string_view> names;
  for (const Json& field : value) {
    if (!field.is_array() || field.size() < 2 || field.size() > 3 || !field[0].is_string()) refuse();
    const std::string& name = field[0].get_ref<const std::string&>();
    const bool is_new = names.insert(name).second;
    NumpyType of_member = parse_numpy_type(field[1], words);
    if (name.empty() ? of_member.dtype.kind != Kind::raw : !is_new) refuse();
    DType::Member& member = members.emplace_back();
    member.name = name;
    member.type = std::move(of_member.dtype);
    member.byte_order = of_member.byte_order;
    if (field.size() == 3) member.shape = parse_member_shape(field[2], value);
    const bool is_object = member.type.kind == Kind::other && member.type.bytes == 0;
    if (type.unsupported.empty() && !of_member.unsupported.empty() && is_object)
      type.unsupported = fmt::format("structured data type with a field of type {}", member.type.name());
  }
  if (!type.unsupported.empty()) {
    type.dtype.bytes = 0;
    type.dtype.other = "structured";
    return type;
  }
  type.dtype = structured_type(std::move(members));
  return type;
}

// {"enum": "<i1", "names": [["off", 0], ["on", 1]]}
NumpyType parse_enum(const Json& value) {
  const auto refuse = [&] { malformed(value, "no enumeration"); };
  NumpyType type = parse_type_string(need_member(value, "enum"));
  if (type.dtype.kind != Kind::int_ && type.dtype.kind != Kind::uint) refuse();
  const Json& names = need_member(value, "names");
  if (!names.is_array() || names.empty()) refuse();
  for (const Json& entry : names) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number_integer()) refuse();
    const auto number = entry[1].is_number_unsigned() ? static_cast<std::int64_t>(entry[1].get<std::uint64_t>())
                                                      : entry[1].get<std::int64_t>();
    type.dtype.names.push_back({entry[0].get<std::string>(), number});
  }
  return type;
}

// {"opaque": 3, "tag": "jpeg"}, {"text": 8, "tag": "utf-8"}
NumpyType parse_tagged(const Json& value, const char* member, Kind kind) {
  const Json& bytes = need_member(value, member);
  if (!bytes.is_number_unsigned() || bytes.get<std::uint64_t>() - 1 >= kMaxElementBytes)
    malformed(value, "with a size that is none");
  NumpyType type;
  type.dtype = DType(kind, bytes.get<std::size_t>(), need_string(need_member(value, "tag"), "tag"));
  return type;
}

NumpyType parse_object(const Json& value) {
  if (value.contains("enum")) return parse_enum(value);
  return value.contains("text") ? parse_tagged(value, "text", Kind::text) : parse_tagged(value, "opaque", Kind::raw);
}

Json print_enum(const DType& dtype, Json type) {
  Json names = Json::array();
  for (const DType::Name& name : dtype.names) {
    const bool is_unsigned = dtype.kind == Kind::uint;
    names.push_back(
        Json::array({name.name, is_unsigned ? Json(static_cast<std::uint64_t>(name.value)) : Json(name.value)}));
  }
  return Json{{"enum", std::move(type)}, {"names", std::move(names)}};
}

}  // namespace

NumpyType parse_numpy_type(const Json& value, TypeWords words) {
  if (value.is_object() && words == TypeWords::hints) return parse_object(value);
  return value.is_array() ? parse_fields(value, words) : parse_type_string(value);
}

Json print_numpy_type(const DType& dtype, ByteOrder byte_order, TypeWords words) {
  const char order = dtype.element().word_bytes == 1 ? '|' : byte_order == ByteOrder::little ? '<' : '>';
  switch (dtype.kind) {
    case Kind::structured: {
      Json fields = Json::array();
      for (const DType::Member& member : dtype.members) {
        Json type = print_numpy_type(member.type, member.byte_order, words);
        if (type.is_null()) return nullptr;
        Json field = Json::array({member.name, std::move(type)});
        if (member.shape.rank() > 0) field.push_back(std::vector<Index>(member.shape.begin(), member.shape.end()));
        fields.push_back(std::move(field));
      }
      return fields;
    }
    case Kind::other: {
      if (std::find(kWideFloats.begin(), kWideFloats.end(), dtype.other) == kWideFloats.end()) return nullptr;
      return Json((byte_order == ByteOrder::little ? "<" : ">") + dtype.other);
    }
    case Kind::boolean:
      return Json("|b1");
    case Kind::raw:
    case Kind::text:
      if (dtype.other.empty() || words == TypeWords::numpy) break;
      return Json{{dtype.kind == Kind::raw ? "opaque" : "text", dtype.bytes}, {"tag", dtype.other}};
    case Kind::int_:
    case Kind::uint: {
      DType number = dtype;
      number.names.clear();
      Json type = order + number.name();
      return dtype.names.empty() || words == TypeWords::numpy ? type : print_enum(dtype, std::move(type));
    }
    case Kind::complex_:
      if (dtype.bytes < 8) return nullptr;
      break;
    case Kind::string:
    case Kind::list:
    case Kind::object:
      return nullptr;
    default:
      break;
  }
  return Json(order + dtype.name());
}

}  // namespace chunkwise
