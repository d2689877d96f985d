// Element types of a fixed size that the registry of Zarr extensions lists and nothing else here understands: integers
// and floats of few bits, bfloat16, and complex numbers of those. Their elements are moved as they are; only fill
// values must be read, to know the bits of what was never written.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

struct RegisteredType {
  std::size_t bytes = 1;
  std::size_t word_bytes = 1;  // that swap together
};

/// Nothing if the name is not one of them.
std::optional<RegisteredType> find_registered_type(std::string_view name);

/// Reads a fill value in native byte order; false if it is none of the type.
bool read_registered_fill(const Json& value, std::string_view name, MutableByteView out);
/// The inverse: whole numbers, the bits of floats in hexadecimal, pairs of those.
Json print_registered_fill(std::string_view name, ByteView element);

}  // namespace chunkwise::zarr3
