#include "format/zarr3/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "array/fill_json.h"
#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"
#include "format/zarr3/extension.h"
#include "format/zarr3/registered_types.h"

namespace chunkwise::zarr3 {
namespace {

using Kind = DType::Kind;

constexpr std::uint64_t kMaxElementBytes = std::uint64_t{1} << 30;

struct PlainType {
  std::string_view name;
  Kind kind;
  std::size_t bytes;
};
// The first name of a type is the one that is written.
constexpr std::array<PlainType, 17> kPlainTypes{{{"bool", Kind::boolean, 1},
                                                 {"int8", Kind::int_, 1},
                                                 {"int16", Kind::int_, 2},
                                                 {"int32", Kind::int_, 4},
                                                 {"int64", Kind::int_, 8},
                                                 {"uint8", Kind::uint, 1},
                                                 {"uint16", Kind::uint, 2},
                                                 {"uint32", Kind::uint, 4},
                                                 {"uint64", Kind::uint, 8},
                                                 {"float16", Kind::float_, 2},
                                                 {"float32", Kind::float_, 4},
                                                 {"float64", Kind::float_, 8},
                                                 {"complex64", Kind::complex_, 8},
                                                 {"complex128", Kind::complex_, 16},
                                                 {"complex_float16", Kind::complex_, 4},
                                                 {"complex_float32", Kind::complex_, 8},
                                                 {"complex_float64", Kind::complex_, 16}}};

// {"length_bytes": n} says all about these.
struct LengthType {
  std::string_view name;
  Kind kind;
  std::size_t unit_bytes;
};
constexpr std::array<LengthType, 3> kLengthTypes{
    {{"null_terminated_bytes", Kind::text, 1}, {"raw_bytes", Kind::raw, 1}, {"fixed_length_utf32", Kind::utf32, 4}}};

// Elements of any length; the second is also registered as "bytes".
constexpr const char* kStringType = "string";
constexpr const char* kBytesType = "variable_length_bytes";

constexpr const char* kDatetime = "numpy.datetime64";
constexpr const char* kTimedelta = "numpy.timedelta64";
constexpr std::array<std::string_view, 14> kUnits{"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                  "ms", "us", "ns", "ps", "fs", "as", "generic"};

[[noreturn]] void malformed(const Json& value, const std::string& why) {
  throw Error(Code::corrupt, fmt::format("'data_type' is {}, {}", quote(value), why));
}

DType parse_length_type(const Extension& type, const LengthType& row, const Json& value) {
  const Json& length = need_configuration(type, "data_type", "length_bytes");
  const bool is_length = length.is_number_unsigned() && length.get<std::uint64_t>() - 1 < kMaxElementBytes &&
                         length.get<std::uint64_t>() % row.unit_bytes == 0;
  if (!is_length) malformed(value, "with a length that is none");
  return DType(row.kind, length.get<std::size_t>());
}

DType parse_time_type(const Extension& type, const Json& value) {
  DType dtype(type.name == kDatetime ? Kind::datetime : Kind::timedelta, 8);
  dtype.unit = need_string(need_configuration(type, "data_type", "unit"), "unit");
  if (dtype.unit == "\xCE\xBCs") dtype.unit = "us";
  const Json& factor = need_configuration(type, "data_type", "scale_factor");
  const bool is_known = std::find(kUnits.begin(), kUnits.end(), dtype.unit) != kUnits.end();
  if (!is_known || !factor.is_number_unsigned() || factor.get<std::uint64_t>() - 1 > 0x7FFFFFFE)
    malformed(value, "with a unit or a factor that is none");
  dtype.n_units = factor.get<std::int64_t>();
  return dtype;
}

// "r24": 24 bits.
std::optional<DType> parse_raw_bits(const std::string& name, const Json& value) {
  std::uint64_t bits = 0;
  const char* const end = name.data() + name.size();
  if (name.size() < 2 || name[0] != 'r') return std::nullopt;
  const auto [rest, error] = std::from_chars(name.data() + 1, end, bits);
  if (rest != end) return std::nullopt;
  if (error != std::errc{} || bits == 0 || bits % 8 != 0 || bits / 8 > kMaxElementBytes)
    malformed(value, "no number of whole bytes");
  return DType(Kind::raw, static_cast<std::size_t>(bits / 8));
}

// Objects {"name", "data_type"}, or lists of the two as "structured" had them.
ParsedType parse_fields(const Extension& extension, const Json& value) {
  const Json& fields = need_configuration(extension, "data_type", "fields");
  const auto refuse = [&] { malformed(value, "with fields that are none"); };
  if (!fields.is_array() || fields.empty()) refuse();
  ParsedType type;
  std::vector<DType::Member> members;
  std::unordered_set<std::string_view> names;
  for (const Json& field : fields) {
    const bool is_pair = field.is_array() && field.size() == 2;
    const Json* name = is_pair ? &field[0] : find_member(field, "name");
    const Json* data_type = is_pair ? &field[1] : find_member(field, "data_type");
    if (name == nullptr || data_type == nullptr || !name->is_string()) refuse();
    if (name->get_ref<const std::string&>().empty() || !names.insert(name->get_ref<const std::string&>()).second)
      refuse();
    ParsedType of_member = parse_type(*data_type);
    if (of_member.unsupported.empty() && of_member.dtype.kind == Kind::other)
      of_member.unsupported = "data type " + of_member.dtype.other;
    if (of_member.dtype.is_varying()) of_member.unsupported = "data type " + of_member.dtype.name();
    if (type.unsupported.empty() && !of_member.unsupported.empty())
      type.unsupported = fmt::format("data type {} with a field of {}", extension.name, of_member.unsupported);
    DType::Member& member = members.emplace_back();
    member.name = name->get<std::string>();
    member.type = std::move(of_member.dtype);
    member.byte_order = ByteOrder::little;
  }
  if (type.unsupported.empty()) type.dtype = structured_type(std::move(members));
  return type;
}

Json with_length(std::string_view name, std::size_t bytes) {
  return named(name, Json{{"length_bytes", bytes}});
}

// Every field has a name, so gaps get the one that numpy gives them.
std::string field_name(const DType& dtype, std::size_t i) {
  if (!dtype.members[i].name.empty()) return dtype.members[i].name;
  std::string name = fmt::format("f{}", i);
  const auto is_taken = [&](const DType::Member& member) { return member.name == name; };
  while (std::any_of(dtype.members.begin(), dtype.members.end(), is_taken)) name += '_';
  return name;
}

void name_fields(DType& dtype) {
  for (std::size_t i = 0; i < dtype.members.size(); ++i) {
    dtype.members[i].name = field_name(dtype, i);
    name_fields(dtype.members[i].type);
  }
}

}  // namespace

ParsedType parse_type(const Json& value) {
  const Extension extension = parse_extension(value, "data_type");
  const std::string& name = extension.name;
  if (name.empty()) malformed(value, "an empty name");
  ParsedType type;
  const auto plain =
      std::find_if(kPlainTypes.begin(), kPlainTypes.end(), [&](const auto& t) { return t.name == name; });
  const auto length =
      std::find_if(kLengthTypes.begin(), kLengthTypes.end(), [&](const auto& t) { return t.name == name; });
  if (plain != kPlainTypes.end()) {
    type.dtype = DType(plain->kind, plain->bytes);
  } else if (length != kLengthTypes.end()) {
    type.dtype = parse_length_type(extension, *length, value);
  } else if (name == kDatetime || name == kTimedelta) {
    type.dtype = parse_time_type(extension, value);
  } else if (name == "struct" || name == "structured") {
    type = parse_fields(extension, value);
  } else if (name == kStringType) {
    type.dtype = string_type();
  } else if (name == kBytesType || name == "bytes") {
    type.dtype = list_type(DType(Kind::uint, 1));
  } else if (const auto raw = parse_raw_bits(name, value)) {
    type.dtype = *raw;
  } else if (const auto registered = find_registered_type(name)) {
    type.dtype = DType(Kind::other, registered->bytes);
    type.dtype.other = name;
  } else {
    type.unsupported = "data type " + quote_name(name);
  }
  if (!type.unsupported.empty()) {
    type.dtype = DType(Kind::other, 0);
    type.dtype.other = name;
  }
  return type;
}

Json print_type(const DType& dtype) {
  for (const PlainType& plain : kPlainTypes) {
    if (plain.kind == dtype.kind && plain.bytes == dtype.bytes) return Json(std::string(plain.name));
  }
  for (const LengthType& length : kLengthTypes) {
    if (length.kind == dtype.kind) return with_length(length.name, dtype.bytes);
  }
  switch (dtype.kind) {
    case Kind::datetime:
    case Kind::timedelta:
      return named(dtype.kind == Kind::datetime ? kDatetime : kTimedelta,
                   Json{{"unit", dtype.unit}, {"scale_factor", static_cast<std::uint64_t>(dtype.n_units)}});
    case Kind::structured: {
      Json fields = Json::array();
      for (const DType::Member& member : dtype.members) {
        Json type = print_type(member.type);
        if (type.is_null() || member.shape.rank() > 0) return nullptr;
        fields.push_back(Json{{"name", field_name(dtype, fields.size())}, {"data_type", std::move(type)}});
      }
      return named("struct", Json{{"fields", std::move(fields)}});
    }
    case Kind::string:
      return Json(kStringType);
    case Kind::list:
      return dtype.item() == DType(Kind::uint, 1) ? Json(kBytesType) : Json(nullptr);
    case Kind::other:
      if (find_registered_type(dtype.other)) return Json(dtype.other);
      return nullptr;
    default:
      return nullptr;
  }
}

bool has_type(const DType& dtype) {
  return !print_type(dtype).is_null();
}

std::size_t word_bytes(const DType& dtype) {
  const auto registered = dtype.kind == Kind::other ? find_registered_type(dtype.other) : std::nullopt;
  return registered ? registered->word_bytes : dtype.element().word_bytes;
}

std::vector<std::byte> parse_fill(const Json& value, const DType& dtype) {
  if (dtype.kind != Kind::other) return fill_from_json(value, dtype);
  std::vector<std::byte> element(dtype.bytes);
  if (!read_registered_fill(value, dtype.other, element))
    throw Error(Code::corrupt, fmt::format("fill_value {} is no value of type {}", quote(value), dtype.name()));
  return element;
}

Json print_fill(const DType& dtype, ByteView element) {
  if (dtype.kind == Kind::other) return print_registered_fill(dtype.other, element);
  if (dtype.kind != Kind::structured) return fill_to_json(dtype, element, FillStyle::zarr3);
  DType named_fields = dtype;
  name_fields(named_fields);
  return fill_to_json(named_fields, element, FillStyle::zarr3);
}

}  // namespace chunkwise::zarr3
