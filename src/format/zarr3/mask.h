// The attribute `_FillValue` as xarray spells it in Zarr v3: for arrays of floats the base64 of a little-endian f8, for
// arrays of complex numbers a list of two.
#pragma once

#include "array/hierarchy.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

/// The number, or the pair of numbers of a complex one, that base64 stands for; anything else unchanged, and so for
/// arrays of other types.
Json decode_mask(const Json& spelled, DType::Kind kind);
/// The opposite.
Json encode_mask(const Json& value, DType::Kind kind);

}  // namespace chunkwise::zarr3
