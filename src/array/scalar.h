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

/// An element with the bytes of each word reversed if `order` is not the native one.
std::vector<std::byte> in_order(ByteView native_element, const DType& dtype, ByteOrder order);
/// The inverse; the same operation, named for the reader.
inline std::vector<std::byte> from_order(ByteView element, const DType& dtype, ByteOrder order) {
  return in_order(element, dtype, order);
}

}  // namespace chunkwise
