// The attribute `_FillValue` as xarray spells it in Zarr v3: for arrays of floats the base64 of a little-endian f8.
#pragma once

#include <optional>

#include "array/hierarchy.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

/// The number that a base64 text stands for; nothing if it is none.
std::optional<double> decode_mask(const Json& value);
/// A number as base64; other values unchanged.
Json encode_mask(const Json& value);

}  // namespace chunkwise::zarr3
