// Chunk grids of zarr.json.
#pragma once

#include <string>

#include "array/meta.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

/// Reads the value of `chunk_grid` for an array whose shape is set: chunk and pads_edges. Returns why the grid cannot
/// be handled, or "". A rectilinear grid can if it is regular in effect: all chunks along an axis as long as the first,
/// but for the last. Throws Error{corrupt}.
std::string parse_grid(const Json& value, ArrayMeta& meta);

}  // namespace chunkwise::zarr3
