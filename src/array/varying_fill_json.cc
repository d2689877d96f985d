#include "array/varying_fill_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "array/json_fields.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace chunkwise {
namespace {

bool is_bytes(const DType& dtype) {
  return dtype == list_type(*parse_dtype("u1"));
}

[[noreturn]] void bad_fill(const Json& value, const DType& dtype) {
  throw Error(Code::corrupt, fmt::format("fill_value {} is no value of type {}", quote(value), dtype.name()));
}

}  // namespace

std::vector<std::byte> varying_fill_from_json(const Json& value, const DType& dtype) {
  if (value.is_null() || dtype.kind == DType::Kind::object) return {};
  const bool is_empty = is_value(value, std::int64_t{0}) || is_value(value, "") || (value.is_array() && value.empty());
  if (is_empty) return fill_of(ElementView(ByteView()));
  if (value.is_string() && dtype.kind == DType::Kind::string)
    return fill_of(ElementView(as_bytes(value.get_ref<const std::string&>())));
  if (value.is_string() && is_bytes(dtype)) {
    const auto bytes = from_base64(value.get_ref<const std::string&>());
    if (bytes) return fill_of(ElementView(*bytes));
  }
  if (!value.is_array() || !is_bytes(dtype)) bad_fill(value, dtype);
  std::vector<std::byte> bytes;
  for (const Json& byte : value) {
    if (!byte.is_number_unsigned() || byte.get<std::uint64_t>() > 255) bad_fill(value, dtype);
    bytes.push_back(static_cast<std::byte>(byte.get<std::uint64_t>()));
  }
  return fill_of(ElementView(bytes));
}

Json varying_fill_to_json(ByteView fill, const DType& dtype) {
  if (fill.empty()) return Json(nullptr);
  const ByteView element = fill.first(fill.size() - 1);
  const std::string_view text = as_text(element);
  if (dtype.kind == DType::Kind::string && is_utf8(text)) return Json(std::string(text));
  if (is_bytes(dtype)) return Json(to_base64(element));
  if (element.empty()) return Json("");
  throw Error(Code::unsupported, fmt::format("Zarr has no word for a fill value of this kind of type {}", dtype.name()),
              "leave the array out with --exclude");
}

}  // namespace chunkwise
