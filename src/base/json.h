// JSON as array stores really contain it: bare NaN and Infinity, integers of 64 bits, member order kept.
// Include only in .cc files and where a Json value is a member; json_fwd.h serves declarations.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace chunkwise {

/// Parses one document. Accepts bare NaN, Infinity, -Infinity (as doubles) and a UTF-8 byte order mark; a string
/// "NaN" stays a string. Integers in [-2^63, 2^64) stay integers; longer ones are kept as their digits, in a binary
/// value, which JSON itself does not have. Duplicate members: the last one wins. Throws Error{corrupt} with line and
/// column, also for nesting deeper than 256.
Json parse_json(std::string_view text);

/// Writes a document; doubles in the shortest form that reads back to the same bits and always recognisable as
/// floating (1 -> "1.0"); NaN and infinities bare. indent < 0: one line.
/// Invalid UTF-8 in strings throws Error{unsupported}.
std::string dump_json(const Json& value, int indent = -1);

/// The nearest double of a number, also of a long integer; nothing if the value is no number.
std::optional<double> to_double(const Json& value);

}  // namespace chunkwise
