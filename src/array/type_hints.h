// What Zarr's element types do not tell: names of enumerations, tags of opaque bytes, gaps, and types with a name of
// their own (docs/zarr-hints.md).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/hierarchy.h"
#include "base/json_fwd.h"

namespace chunkwise {

/// The named types of hints: a list of [PATH, TYPE]. Entries that make no sense are left out.
std::vector<TypeNode> parse_named_types(const Json& value);
/// The inverse; null if there are none. Types without words are left out.
Json print_named_types(const std::vector<TypeNode>& types);

/// The type that a hint tells for elements that are `stored`, as the metadata says, in the byte orders of those;
/// nothing if it does not fit them (any more). `named` has the named types.
std::optional<DType> hinted_type(const Json& hint, const DType& stored, const std::vector<TypeNode>& named);
/// The hint from which hinted_type makes `dtype` again; null if `stored` needs none.
Json type_hint(const DType& dtype, const DType& stored);

}  // namespace chunkwise
