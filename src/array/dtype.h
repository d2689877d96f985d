#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grid/strided_copy.h"

namespace chunkwise {

/// The type of an element, without its byte order (that is layout).
struct DType {
  enum class Kind : std::uint8_t { boolean, int_, uint, float_, other };
  Kind kind = Kind::other;
  std::size_t bytes = 1;  // of one element; for `other` as stored, 0 if variable
  /// For `other`: what it is, in the format's own words: "string", "compound", "enum", "vlen", "reference", ...
  std::string other;

  bool is_number() const { return kind != Kind::other; }
  ElementSize element() const { return {bytes, bytes}; }
  /// "bool", "i4", "u2", "f8"; for others the words.
  std::string name() const;

  friend bool operator==(const DType&, const DType&) = default;
};

/// "f4", "i8", "u1", "bool" and numpy names ("float32", "int16"); nothing if unknown.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace chunkwise
