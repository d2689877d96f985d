// Element types as .zarray spells them: numpy's type strings, and lists of fields.
#pragma once

#include <string>

#include "array/dtype.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr2 {

struct ParsedType {
  DType dtype;
  ByteOrder byte_order = ByteOrder::little;  // of structured types that of their members counts
  std::string unsupported;                   // why elements of this type cannot be handled, or ""
};

/// Reads the value of `dtype`. Throws Error{corrupt}.
ParsedType parse_type(const Json& value);

/// "<f4", or a list of fields; null if Zarr v2 has no such type. The names of enumerations are not told.
Json print_type(const DType& dtype, ByteOrder byte_order);
bool has_type(const DType& dtype);

}  // namespace chunkwise::zarr2
