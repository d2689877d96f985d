// The two types of a codec of numbers, as parameters: "dtype" of what is decoded, "astype" of what is stored.
#pragma once

#include <cstddef>

#include "base/json_fwd.h"
#include "codec/elements.h"
#include "codec/spec.h"

namespace chunkwise {

struct NumberTypes {
  Elements decoded;
  Elements encoded;
};

/// Where a type is not given: that of the other side is "astype"; "dtype" is unsigned integers as long as elements.
/// Throws Error{unsupported} for elements of no such length and types that are no numbers.
NumberTypes number_types_of(const CodecSpec& spec, std::size_t element_bytes);

/// The parameters with both types, where need be those of the elements. Throws Error{unsupported} if they are opaque.
CodecSpec fit_number_types(const CodecSpec& spec, const Elements& elements);

/// For CodecRow::encoded_elements.
Elements number_elements(const CodecSpec& spec, const Elements& decoded);

/// The names of the two in JSON.
struct NumberMembers {
  const char* decoded = "dtype";
  const char* encoded = "astype";
};
/// Throws Error{corrupt} if a type is no text, Error{unsupported} if it is no number.
void take_number_types(const Json& config, const NumberMembers& members, CodecSpec& spec);
void put_number_types(const CodecSpec& spec, std::size_t element_bytes, const NumberMembers& members, Json& config);

}  // namespace chunkwise
