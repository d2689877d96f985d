// Single elements of number types as JSON numbers, and back.
#pragma once

#include <cstddef>
#include <vector>

#include "array/dtype.h"
#include "base/bytes.h"
#include "base/json_fwd.h"

namespace chunkwise {

enum class Rounding {
  exact,    // only values that the type holds exactly: 0.1 is no f4
  nearest,  // floats are rounded; integers must still be exact
};

/// Reads a JSON number, or true and false for bool, into an element of native byte order; out.size() is dtype.bytes.
/// False if the value is of another JSON type or does not fit. Never throws.
bool element_from_json(const Json& value, const DType& dtype, Rounding rounding, MutableByteView out);

/// An element of native byte order as a JSON number: bool as true or false, floats as the exact double, NaN bare.
Json element_to_json(const DType& dtype, ByteView element);

/// True for a NaN whose bits are not the ones JSON's NaN reads as.
bool is_special_nan(const DType& dtype, ByteView element);

/// The value that Zarr metadata gives for never-written elements, in native byte order. Understands what is found in
/// the wild besides plain numbers: "NaN", "Infinity", "-Infinity", "0x7fc0..." (the bits, most significant first),
/// numbers in quotes, whole floats for integers, 0 and 1 for bool, a list of one such value. Throws Error{corrupt}.
std::vector<std::byte> fill_from_json(const Json& value, const DType& dtype);

/// The inverse, with "NaN", "Infinity" and "-Infinity" quoted. `nan_bits`: a special NaN becomes "0x..." (Zarr v3);
/// otherwise it becomes "NaN" and its bits are lost.
Json fill_to_json(const DType& dtype, ByteView element, bool nan_bits);

/// An element with the bytes of each word reversed if `order` is not the native one.
std::vector<std::byte> in_order(ByteView native_element, const DType& dtype, ByteOrder order);
/// The inverse; the same operation, named for the reader.
inline std::vector<std::byte> from_order(ByteView element, const DType& dtype, ByteOrder order) {
  return in_order(element, dtype, order);
}

}  // namespace chunkwise
