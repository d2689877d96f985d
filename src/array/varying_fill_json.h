// Fill values of elements of any length, as Zarr metadata spells them.
#pragma once

#include <cstddef>
#include <vector>

#include "array/dtype.h"
#include "array/elements.h"
#include "base/json_fwd.h"

namespace chunkwise {

/// In the form of ArrayMeta::fill. Texts are spelled as they are, lists of u1 in base64 or as lists of numbers. 0,
/// which zarr-python once wrote by default, and an empty list or text are an empty element, null is null. Throws
/// Error{corrupt}.
std::vector<std::byte> varying_fill_from_json(const Json& value, const DType& dtype);

/// The inverse: takes the form of ArrayMeta::fill, and spells null for a null element. Throws Error{unsupported} for
/// what is not spelled so: texts that are no UTF-8, other lists that are not empty.
Json varying_fill_to_json(ByteView fill, const DType& dtype);

}  // namespace chunkwise
