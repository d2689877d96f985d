// Element types as numpy describes them in JSON: in Zarr v2, and, with more words, in hints (docs/zarr-hints.md).
#pragma once

#include <string>

#include "array/dtype.h"
#include "base/json_fwd.h"

namespace chunkwise {

enum class TypeWords {
  numpy,  // type strings and lists of fields
  hints,  // also {"enum": ..., "names": ...}, {"opaque": ..., "tag": ...} and {"text": ..., "tag": ...}
};

struct NumpyType {
  DType dtype;
  ByteOrder byte_order = ByteOrder::little;  // of structured types that of their members counts
  std::string unsupported;                   // why elements of this type cannot be handled, or ""
};

/// Reads "<f4", or a list of fields [name, type] or [name, type, shape]; a field without a name is a gap of type "|V3".
/// Throws Error{corrupt}.
NumpyType parse_numpy_type(const Json& value, TypeWords words = TypeWords::numpy);

/// The inverse; null if there are no words for the type. Without the words of hints the names of enumerations and tags
/// are not told.
Json print_numpy_type(const DType& dtype, ByteOrder byte_order, TypeWords words = TypeWords::numpy);

}  // namespace chunkwise
