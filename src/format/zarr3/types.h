// Element types as zarr.json spells them.
#pragma once

#include <string>
#include <vector>

#include "array/dtype.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

struct ParsedType {
  /// Members of structured types as if little-endian, until the codec "bytes" says otherwise. Registered types of a
  /// fixed size that mean nothing here (bfloat16, float8_e4m3, int4, ...) are of Kind::other, with their names.
  DType dtype;
  std::string unsupported;  // why elements of this type cannot be handled, or ""
};

/// Reads the value of `data_type`. Throws Error{corrupt}.
ParsedType parse_type(const Json& value);

/// The spelling of a type; null if Zarr v3 has no such type.
Json print_type(const DType& dtype);
bool has_type(const DType& dtype);

/// The size of words whose bytes swap together, also of registered types.
std::size_t word_bytes(const DType& dtype);

/// `fill_value` for a type, as fill_from_json (array/fill_json.h), in native byte order.
std::vector<std::byte> parse_fill(const Json& value, const DType& dtype);
/// The inverse, for a type as print_type spells it.
Json print_fill(const DType& dtype, ByteView element);

}  // namespace chunkwise::zarr3
