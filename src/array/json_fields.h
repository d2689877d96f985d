// Fields of metadata objects, checked.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "grid/shape.h"

namespace chunkwise {

/// The member, or null if `object` is no object or has none of the name.
const Json* find_member(const Json& object, std::string_view name);
/// The member; Error{corrupt} "key 'shape' is missing".
const Json& need_member(const Json& object, std::string_view name);
/// A list of whole numbers, each at least `least`; `what` names the list in errors: "shape".
/// Throws Error{corrupt}, and Error{unsupported} for more than kMaxRank numbers.
Shape need_extents(const Json& value, std::string_view what, Index least);
/// The text of a string value; Error{corrupt} "key 'order' is 3, not a string".
const std::string& need_string(const Json& value, std::string_view what);
/// True if the value is this number or this text. Unlike the operators of Json, it is sure of itself about NaN.
bool is_value(const Json& value, std::int64_t number);
bool is_value(const Json& value, std::string_view text);
bool is_false(const Json& value);
/// A value as errors quote it: compact and at most 60 bytes.
std::string quote(const Json& value);

/// A name from a file as messages show it: as it is if plain, else quoted.
std::string quote_name(const std::string& name);

/// Adds a member without looking whether the name is there already, which takes long in large objects.
void append_member(Json& object, const std::string& name, Json value);

}  // namespace chunkwise
