// .zarray documents.
#pragma once

#include <string>

#include "array/hierarchy.h"
#include "array/zarr_tree.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr2 {

/// Member of .zgroup (of a store that is one array: of .zarray) that holds the hints.
inline constexpr const char* kHintsMember = "_chunkwise";
/// Attribute with the names of the dimensions.
inline constexpr const char* kDimensionsAttribute = "_ARRAY_DIMENSIONS";

struct ParsedArray {
  ArrayMeta meta;  // path, dims and counts of chunks are still to be set
  ZarrArray native;
};

/// Throws Error{corrupt} naming the key and what is wrong with it; Error{unsupported} for a rank above kMaxRank.
/// Types and codecs that are unknown here are noted in meta.unsupported.
ParsedArray parse_zarray(const Json& document);

/// The document of an array that check() has passed. `fill_value` as decided by choose_fill.
Json print_zarray(const ArrayMeta& meta, const ZarrArray& native, const Json& fill_value);

/// What to write as fill_value. Not meta.fill where other readers would take that for a mask (docs/zarr-hints.md): the
/// value of `_FillValue`; else null if no chunk is missing, or if zero would mask; else meta.fill.
Json choose_fill(const ArrayNode& node, const ZarrArray& native);

}  // namespace chunkwise::zarr2
