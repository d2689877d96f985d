// zarr.json documents.
#pragma once

#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "array/zarr_tree.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

/// Member of the root group's consolidated_metadata with the hints. Group documents themselves may not be extended:
/// zarr-python refuses members it does not know there.
inline constexpr const char* kGroupHintsMember = "chunkwise";
/// The same, of the document of a store that is one array.
inline constexpr const char* kArrayHintsMember = "_chunkwise";

struct ParsedArray {
  ArrayMeta meta;  // path and counts of chunks are still to be set
  ZarrArray native;
  bool has_keys = true;  // false: the key encoding is unknown
};

/// Throws Error{corrupt} naming the key and what is wrong with it; Error{unsupported} for a rank above kMaxRank.
/// Types, codecs, grids and extensions that are unknown here are noted in meta.unsupported.
ParsedArray parse_array(const Json& document);

/// Checks a group's document; returns the name of an extension that must be understood but is not, or "".
std::string check_group(const Json& document);

/// The document of an array that check() has passed.
Json print_array(const ArrayMeta& meta, const ZarrArray& native, Json attributes);
Json print_group(Json attributes);

}  // namespace chunkwise::zarr3
