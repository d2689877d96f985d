// Attributes as JSON values, and the hints that bring back what JSON cannot say.
#pragma once

#include <string>
#include <vector>

#include "array/attribute.h"
#include "base/json_fwd.h"

namespace chunkwise {

/// How an attribute was spelled in JSON, so that writing JSON again keeps the spelling ([5] or 5, 1 or 1.0).
struct JsonSpelling : Native {
  std::string json;
  /// What the spelling was read as; if the attribute's value is another by now, the spelling is stale.
  AttributeValue value;
  /// Zarr v2: the attribute stands for the array's fill_value and is not spelled out among the attributes.
  bool implied = false;
  /// Zarr v2: read in the type of its array, as `_FillValue` without a hint is.
  bool in_array_type = false;
};

/// Reads a value by the default rules: an integer is i8 (u8 above 2^63-1), another number f8, a string a text of `text`
/// form; a list of numbers or of strings the same in one dimension; everything else, also an empty list, stays JSON.
AttributeValue attribute_from_json(const Json& value, const AttributeValue::TextForm& text);

/// Reads a value with the help of a hint (grammar: docs/zarr-hints.md). A hint that does not fit the value, or is
/// malformed, is ignored: somebody has edited the value since.
AttributeValue attribute_from_json(const Json& value, const Json& hint, const AttributeValue::TextForm& text);

/// The attributes of a JSON object, in order, each with its JsonSpelling. `hints` is an object of hints by name, or
/// null.
std::vector<Attribute> attributes_from_json(const Json& object, const Json& hints,
                                            const AttributeValue::TextForm& text);

/// Writes a value. `hint` becomes null if attribute_from_json restores the value without one. Of one-dimensional values
/// with a single element, `unwrap_single` writes the element (netCDF has no scalars, JSON readers expect them).
/// Bytes that are no UTF-8 are written as Latin-1, and kept in the hint. Not for values of kind foreign.
Json attribute_to_json(const Attribute& attribute, bool unwrap_single, const AttributeValue::TextForm& text,
                       Json& hint);

/// "text", "text-ascii", "char-utf8", "char", as hints spell a form, and back; false if unknown.
std::string text_form_name(const AttributeValue::TextForm& form);
bool parse_text_form(std::string_view name, AttributeValue::TextForm& form);

/// The hint that says no more than type and shape: "f4[1]", "char", "empty i2". For numbers, text and empty.
std::string type_hint(const AttributeValue& value);

/// True if the parts that matter for the kind are equal.
bool same_value(const AttributeValue& a, const AttributeValue& b);

}  // namespace chunkwise
