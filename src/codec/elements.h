// What the bytes that a codec gets consist of, and the names of numbers in numpy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grid/strided_copy.h"

namespace chunkwise {

enum class ElementKind : std::uint8_t { opaque, boolean, int_, uint, float_ };

/// Value type. Codecs that compute with numbers want their kind and byte order; most only want to know how long they
/// are.
struct Elements {
  ElementKind kind = ElementKind::opaque;
  std::size_t bytes = 1;
  ByteOrder byte_order = kNativeOrder;

  friend bool operator==(const Elements&, const Elements&) = default;
};

/// "<i4", ">f8", "|u1", "|b1", also without the order ("i4"), and "int32". Nothing for other types than booleans,
/// integers of 1, 2, 4 and 8 bytes and floats of 2, 4 and 8 bytes.
std::optional<Elements> parse_elements(std::string_view name);
/// "<i4". The elements are numbers.
std::string to_string(const Elements& elements);

/// True if every number of the first type is the same again, bit by bit, after a cast to the second type and back.
/// Floats that signal count as the same as the quiet ones.
bool survives_cast(const Elements& from, const Elements& to);

}  // namespace chunkwise
