// Values of never-written elements, as Zarr metadata spells them.
#pragma once

#include <cstddef>
#include <vector>

#include "array/dtype.h"
#include "base/bytes.h"
#include "base/json_fwd.h"

namespace chunkwise {

/// An element of the type in native byte order (members of structured types in their own). Understands both versions
/// of Zarr, and what is found in the wild:
///   numbers    also "NaN", "Infinity", "-Infinity", "0x7fc0..." (the bits, most significant first), numbers in quotes,
///              whole floats for integers, 0 and 1 for bool
///   complex    a list of two of those; the real part alone
///   datetimes  whole numbers, "NaT"
///   texts      base64 (S), the text itself (U, and S if it is no base64), a whole number: its digits
///   raw        base64, a list of byte values
///   structured base64 of all members; an object or a list of their values
/// and a list of one such value for it, 0 for zero bytes of raw and structured types. Throws Error{corrupt}.
std::vector<std::byte> fill_from_json(const Json& value, const DType& dtype);

enum class FillStyle {
  zarr2,  // NaN payloads are lost; structured types in base64; NaT as a number
  zarr3,  // NaN payloads as hexadecimal bits; structured types as objects; NaT as such
};

/// The inverse. Throws Error{unsupported} for texts that are no Unicode, and for arrays in structured types (Zarr v3).
Json fill_to_json(const DType& dtype, ByteView element, FillStyle style);

}  // namespace chunkwise
