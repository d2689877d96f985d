#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grid/strided_copy.h"

namespace chunkwise {

/// The type of an element, without its byte order (that is layout).
struct DType {
  enum class Kind : std::uint8_t {
    boolean,
    int_,
    uint,
    float_,
    text,   // a fixed number of bytes that are characters, padding included; one byte is a netCDF char
    other,  // what only its own format understands
  };
  Kind kind = Kind::other;
  std::size_t bytes = 1;  // of one element; for `other` as stored
  /// For `other`: what it is, in the format's own words: "compound of 3 members", "enum of 2 members", ...
  std::string other;
  /// The elements point to other places of their file (variable length, references): their bytes mean nothing
  /// elsewhere, so only their own format can move them.
  bool refers = false;

  /// A number or a text: the bytes of an element mean the same in every format.
  bool is_plain() const { return kind != Kind::other; }
  bool is_number() const { return kind != Kind::text && kind != Kind::other; }
  ElementSize element() const { return {bytes, is_number() ? bytes : 1}; }
  /// "bool", "i4", "u2", "f8", "S1"; for others the words.
  std::string name() const;

  friend bool operator==(const DType&, const DType&) = default;
};

/// "f4", "i8", "u1", "bool" and numpy names ("float32", "int16"); nothing if unknown.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace chunkwise
