// Arrays of objects, "|O": what their elements are says the codec that makes bytes of them, the first of the filters.
#pragma once

#include <string>

#include "array/meta.h"
#include "array/zarr_tree.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr2 {

/// Sets the type of an array of objects from its first filter (null: there is none), which must be taken off the list
/// then. vlen-utf8 makes strings; vlen-bytes and vlen-array lists of numbers; json2 and msgpack2 objects that only
/// copies of whole chunks keep. Says in meta.unsupported why there is nothing to be done with others (pickle). Throws
/// Error{corrupt}.
void parse_object_codec(const Json* filter, ArrayMeta& meta, ZarrArray& native);

/// The filter of an array whose elements have any length.
Json print_object_codec(const ArrayMeta& meta, const ZarrArray& native);

/// True if Zarr v2 has objects of this type.
bool has_object_codec(const DType& dtype);

}  // namespace chunkwise::zarr2
