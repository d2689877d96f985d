#include "array/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace chunkwise {

const Json* find_member(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const Json& need_member(const Json& object, std::string_view name) {
  const Json* member = find_member(object, name);
  if (member == nullptr) throw Error(Code::corrupt, fmt::format("key '{}' is missing", name));
  return *member;
}

Shape need_extents(const Json& value, std::string_view what, Index least) {
  if (!value.is_array()) {
    throw Error(Code::corrupt, fmt::format("key '{}' is {}, not a list of whole numbers", what, quote(value)));
  }
  if (value.size() > static_cast<std::size_t>(kMaxRank)) {
    throw Error(Code::unsupported,
                fmt::format("'{}' has {} dimensions where at most {} can be handled", what, value.size(), kMaxRank));
  }
  Shape extents;
  for (const Json& extent : value) {
    if (!extent.is_number_integer()) {
      throw Error(Code::corrupt, fmt::format("'{}' has the element {}, not a whole number", what, quote(extent)));
    }
    const bool fits = !extent.is_number_unsigned() || extent.get<std::uint64_t>() >> 63 == 0;
    if (!fits || extent.get<std::int64_t>() < least) {
      throw Error(Code::corrupt, fmt::format("'{}' has the element {}, which is {}", what, quote(extent),
                                             fits ? fmt::format("less than {}", least) : "larger than 2^63"));
    }
    extents.push_back(extent.get<std::int64_t>());
  }
  return extents;
}

const std::string& need_string(const Json& value, std::string_view what) {
  if (!value.is_string()) throw Error(Code::corrupt, fmt::format("'{}' is {}, not a string", what, quote(value)));
  return value.get_ref<const std::string&>();
}

bool is_value(const Json& value, std::int64_t number) {
  return value.is_number_integer() && value == Json(number);
}

bool is_value(const Json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

bool is_false(const Json& value) {
  return value.is_boolean() && !value.get<bool>();
}

std::string quote(const Json& value) {
  std::string text = dump_json(value);
  if (text.size() > 60) {
    // Not in the middle of a UTF-8 sequence.
    std::size_t end = 57;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return text;
}

std::string quote_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::strchr("<>|[]._-", c) != nullptr;
  });
  return plain ? name : quote(Json(name));
}

void append_member(Json& object, const std::string& name, Json value) {
  auto& members = object.get_ref<Json::object_t&>();
  static_cast<std::vector<Json::object_t::value_type>&>(members).emplace_back(name, std::move(value));
}

}  // namespace chunkwise
