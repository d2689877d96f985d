#include "array/json_attributes.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "array/json_fields.h"
#include "array/scalar.h"
#include "base/base64.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace chunkwise {
namespace {

using Kind = AttributeValue::Kind;
using TextForm = AttributeValue::TextForm;

constexpr std::string_view kEmpty = "empty ";

constexpr std::array<std::pair<std::string_view, TextForm>, 4> kTextForms{{
    {"text", {false, true}},
    {"text-ascii", {false, false}},
    {"char-utf8", {true, true}},
    {"char", {true, false}},
}};

// What a hint says: "empty i2", "f4[1]", "char".
struct TypeHint {
  bool empty = false;
  std::optional<DType> dtype;  // nothing: a text
  TextForm text_form;
  std::optional<Shape> shape;  // nothing: as the JSON value has it
};

std::optional<Shape> parse_hint_shape(std::string_view text) {
  Shape shape;
  while (true) {
    Index extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{} || extent < 0 || shape.rank() == kMaxRank) return std::nullopt;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text == "]") return shape;
    if (text.empty() || text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

std::optional<TypeHint> parse_type_hint(std::string_view text) {
  TypeHint hint;
  hint.empty = text.substr(0, kEmpty.size()) == kEmpty;
  if (hint.empty) text.remove_prefix(kEmpty.size());
  const auto bracket = text.find('[');
  if (bracket != std::string_view::npos) {
    hint.shape = parse_hint_shape(text.substr(bracket + 1));
    if (!hint.shape) return std::nullopt;
    text = text.substr(0, bracket);
  }
  hint.dtype = parse_dtype(text);
  if (!hint.dtype && !parse_text_form(text, hint.text_form)) return std::nullopt;
  return hint;
}

// The leaves of a nested list that has exactly this shape, in C order. A single element may also stand alone.
bool collect_leaves(const Json& value, const Shape& shape, int axis, std::vector<const Json*>& leaves) {
  if (axis == shape.rank()) {
    leaves.push_back(&value);
    return !value.is_structured();
  }
  if (!value.is_array() || static_cast<Index>(value.size()) != shape[axis]) return false;
  for (const Json& item : value) {
    if (!collect_leaves(item, shape, axis + 1, leaves)) return false;
  }
  return true;
}

std::optional<AttributeValue> read_typed(const Json& value, const TypeHint& hint) {
  AttributeValue result;
  result.text_form = hint.text_form;
  if (hint.dtype) result.dtype = *hint.dtype;
  if (hint.empty) {
    if (!(hint.dtype ? value.is_array() && value.empty() : value == Json(""))) return std::nullopt;
    result.kind = Kind::empty;
    result.empty_is_text = !hint.dtype;
    return result;
  }
  if (hint.shape) {
    result.shape = *hint.shape;
  } else if (value.is_array()) {
    result.shape = Shape{static_cast<Index>(value.size())};
  }
  std::vector<const Json*> leaves;
  const bool alone = hint.shape && !value.is_structured() && checked_product(*hint.shape) == 1;
  if (alone) {
    leaves.push_back(&value);
  } else if (!collect_leaves(value, result.shape, 0, leaves)) {
    return std::nullopt;
  }
  result.kind = hint.dtype ? Kind::numbers : Kind::text;
  if (hint.dtype) result.data.resize(leaves.size() * hint.dtype->bytes);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (hint.dtype) {
      const MutableByteView out(result.data.data() + i * hint.dtype->bytes, hint.dtype->bytes);
      if (!element_from_json(*leaves[i], *hint.dtype, Rounding::exact, out)) return std::nullopt;
    } else {
      if (!leaves[i]->is_string()) return std::nullopt;
      result.texts.push_back(leaves[i]->get<std::string>());
    }
  }
  return result;
}

ByteView element_at(const AttributeValue& value, std::size_t i) {
  return ByteView(value.data).subspan(i * value.dtype.bytes, value.dtype.bytes);
}

// The exact bytes of a value: base64 of little-endian numbers, or one base64 per text.
Json print_raw(const AttributeValue& value) {
  if (value.kind == Kind::numbers) return Json(to_base64(in_order(value.data, value.dtype, ByteOrder::little)));
  Json texts = Json::array();
  for (const std::string& text : value.texts) texts.push_back(to_base64(as_bytes(text)));
  return texts;
}

// What JSON says of a text. The zeros that fill up a fixed length are in the exact bytes only, as readers of netCDF do
// not show them either.
std::string shown(const std::string& text, const TextForm& form) {
  const std::size_t end = form.fixed ? text.find_last_not_of('\0') + 1 : text.size();
  const std::string plain = text.substr(0, end);
  return is_utf8(plain) ? plain : latin1_to_utf8(plain);
}

// Puts the exact bytes into a value read from JSON, if they say the same as the JSON.
bool refine_with_raw(const Json& raw, AttributeValue& value) {
  if (value.kind == Kind::numbers && raw.is_string()) {
    const auto bytes = from_base64(raw.get_ref<const std::string&>());
    if (!bytes || bytes->size() != value.data.size()) return false;
    AttributeValue exact = value;
    exact.data = from_order(*bytes, value.dtype, ByteOrder::little);
    for (std::size_t i = 0; i < value.data.size() / value.dtype.bytes; ++i) {
      const Json a = element_to_json(value.dtype, element_at(value, i));
      const Json b = element_to_json(value.dtype, element_at(exact, i));
      const bool both_nan = a.is_number_float() && std::isnan(a.get<double>()) && std::isnan(b.get<double>());
      if (!both_nan && !(a == b)) return false;  // not !=, which nlohmann answers with false beside a NaN
    }
    value = std::move(exact);
    return true;
  }
  if (value.kind == Kind::text && raw.is_array() && raw.size() == value.texts.size()) {
    AttributeValue exact = value;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const auto bytes = raw[i].is_string() ? from_base64(raw[i].get_ref<const std::string&>()) : std::nullopt;
      if (!bytes) return false;
      exact.texts[i] = as_text(*bytes);
      if (value.texts[i] != exact.texts[i] && value.texts[i] != shown(exact.texts[i], value.text_form)) return false;
    }
    value = std::move(exact);
    return true;
  }
  return false;
}

Json nest(const Shape& shape, int axis, const std::vector<Json>& leaves, std::size_t& next) {
  if (axis == shape.rank()) return leaves[next++];
  Json list = Json::array();
  for (Index i = 0; i < shape[axis]; ++i) list.push_back(nest(shape, axis + 1, leaves, next));
  return list;
}

Json spell(const AttributeValue& value, bool unwrap_single) {
  switch (value.kind) {
    case Kind::json:
      return parse_json(value.json);
    case Kind::empty:
      return value.empty_is_text ? Json("") : Json::array();
    case Kind::numbers:
    case Kind::text:
      break;
    default:
      throw Error(Code::internal, "an attribute of a foreign type reached the JSON writer");
  }
  const auto count = checked_product(value.shape);
  CHUNKWISE_CHECK(count && (value.kind == Kind::text ? static_cast<Index>(value.texts.size()) == *count
                                                     : static_cast<Index>(value.data.size()) ==
                                                           *count * static_cast<Index>(value.dtype.bytes)));
  std::vector<Json> leaves;
  leaves.reserve(static_cast<std::size_t>(*count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
    if (value.kind == Kind::text) {
      leaves.emplace_back(shown(value.texts[i], value.text_form));
    } else {
      leaves.push_back(element_to_json(value.dtype, element_at(value, i)));
    }
  }
  if (unwrap_single && value.shape.rank() == 1 && *count == 1) return leaves.front();
  std::size_t next = 0;
  return nest(value.shape, 0, leaves, next);
}

// An enumeration: {"type": "i1", "names": [["off", 0]], "named": "/switch_t"}.
Json add_names(Json hint, const DType& dtype) {
  if (dtype.names.empty()) return hint;
  Json names = Json::array();
  for (const DType::Name& name : dtype.names) names.push_back(Json::array({name.name, name.value}));
  Json object = Json::object();
  object["type"] = std::move(hint);
  object["names"] = std::move(names);
  if (!dtype.named.empty()) object["named"] = dtype.named;
  return object;
}

void read_names(const Json& hint, DType& dtype) {
  const Json* names = find_member(hint, "names");
  if (names == nullptr || !names->is_array() || (dtype.kind != DType::Kind::int_ && dtype.kind != DType::Kind::uint))
    return;
  for (const Json& entry : *names) {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number_integer())
      dtype.names.push_back({entry[0].get<std::string>(), entry[1].get<std::int64_t>()});
  }
  const Json* named = find_member(hint, "named");
  if (named != nullptr && named->is_string()) dtype.named = named->get<std::string>();
}

// The weakest hint with which `json` reads as `value`; false if even the exact bytes do not do.
bool find_hint(const Json& json, const AttributeValue& value, const TextForm& text, Json& hint) {
  hint = nullptr;
  if (same_value(attribute_from_json(json, text), value)) return true;
  if (value.kind == Kind::json) return false;
  const bool is_text = value.kind == Kind::text || (value.kind == Kind::empty && value.empty_is_text);
  hint = is_text ? Json(type_hint(value)) : add_names(type_hint(value), value.dtype);
  if (same_value(attribute_from_json(json, hint, text), value)) return true;
  if (value.kind == Kind::empty) return false;
  Json exact = hint.is_object() ? hint : Json::object();
  if (!hint.is_object()) exact["type"] = hint;
  exact["raw"] = print_raw(value);
  hint = std::move(exact);
  return same_value(attribute_from_json(json, hint, text), value);
}

}  // namespace

std::string type_hint(const AttributeValue& value) {
  std::string text;
  const bool is_text = value.kind == Kind::text || (value.kind == Kind::empty && value.empty_is_text);
  if (value.kind == Kind::empty) text = kEmpty;
  DType plain = value.dtype;
  plain.names.clear();
  text += is_text ? text_form_name(value.text_form) : plain.name();
  if (value.kind == Kind::empty || value.shape.rank() == 0) return text;
  // The shape of longer flat lists is plain from the list.
  const bool flat_list = value.shape.rank() == 1 && value.shape[0] > 1;
  if (!flat_list) text += fmt::format("[{}]", fmt::join(value.shape.begin(), value.shape.end(), ","));
  return text;
}

std::string text_form_name(const TextForm& form) {
  for (const auto& [name, known] : kTextForms) {
    if (known == form) return std::string(name);
  }
  return {};
}

bool parse_text_form(std::string_view name, TextForm& form) {
  for (const auto& [known_name, known] : kTextForms) {
    if (known_name == name) {
      form = known;
      return true;
    }
  }
  return false;
}

bool same_value(const AttributeValue& a, const AttributeValue& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::numbers:
      return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
    case Kind::text:
      return a.text_form == b.text_form && a.shape == b.shape && a.texts == b.texts;
    case Kind::empty:
      return a.empty_is_text == b.empty_is_text && (a.empty_is_text ? a.text_form == b.text_form : a.dtype == b.dtype);
    case Kind::json:
      return a.json == b.json;
    default:
      return a.description == b.description;
  }
}

AttributeValue attribute_from_json(const Json& value, const TextForm& text) {
  const bool is_list = value.is_array() && !value.empty();
  bool texts = is_list;
  bool numbers = is_list;
  bool floats = false;
  bool above_i8 = false;
  const auto look_at = [&](const Json& item) {
    texts = texts && item.is_string();
    numbers = numbers && item.is_number();
    floats = floats || item.is_number_float();
    above_i8 = above_i8 || (item.is_number_unsigned() && item.get<std::uint64_t>() >> 63 != 0);
  };
  if (is_list) {
    for (const Json& item : value) look_at(item);
  } else {
    texts = numbers = true;
    look_at(value);
  }
  TypeHint type;
  type.text_form = text;
  if (numbers) type.dtype = parse_dtype(floats ? "f8" : above_i8 ? "u8" : "i8");
  if (texts || numbers) {
    // Not of one type: negative numbers beside ones above 2^63, or integers that no double holds.
    if (auto typed = read_typed(value, type)) return *typed;
  }
  AttributeValue json;
  json.kind = Kind::json;
  json.json = dump_json(value);
  return json;
}

AttributeValue attribute_from_json(const Json& value, const Json& hint, const TextForm& text) {
  const Json& type_text = hint.is_object() && hint.contains("type") ? hint["type"] : hint;
  if (type_text.is_string()) {
    const auto type = parse_type_hint(type_text.get_ref<const std::string&>());
    auto typed = type ? read_typed(value, *type) : std::nullopt;
    if (typed) {
      if (typed->kind == Kind::numbers || typed->kind == Kind::empty) read_names(hint, typed->dtype);
      if (hint.is_object() && hint.contains("raw")) refine_with_raw(hint["raw"], *typed);
      return *typed;
    }
  }
  return attribute_from_json(value, text);
}

std::vector<Attribute> attributes_from_json(const Json& object, const Json& hints, const TextForm& text) {
  // Members of a Json are found by going through them all, which hostile input could make quadratic.
  std::unordered_map<std::string_view, const Json*> hint_of;
  if (hints.is_object()) {
    for (const auto& [name, hint] : hints.get_ref<const Json::object_t&>()) hint_of[name] = &hint;
  }
  std::vector<Attribute> attributes;
  attributes.reserve(object.size());
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
    const auto hint = hint_of.find(name);
    auto spelling = std::make_shared<JsonSpelling>();
    spelling->json = dump_json(value);
    spelling->value =
        hint != hint_of.end() ? attribute_from_json(value, *hint->second, text) : attribute_from_json(value, text);
    attributes.push_back({name, spelling->value, spelling});
  }
  return attributes;
}

Json attribute_to_json(const Attribute& attribute, bool unwrap_single, const TextForm& text, Json& hint) {
  const auto* spelling = dynamic_cast<const JsonSpelling*>(attribute.native.get());
  if (spelling != nullptr && same_value(spelling->value, attribute.value)) {
    Json json = parse_json(spelling->json);
    if (find_hint(json, attribute.value, text, hint)) return json;
  }
  Json json = spell(attribute.value, unwrap_single);
  find_hint(json, attribute.value, text, hint);
  return json;
}

}  // namespace chunkwise
