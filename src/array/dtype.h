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
    text,    // a fixed number of bytes that are characters, padding included; one byte is a netCDF char
    string,  // a text of any length; in most formats UTF-8
    list,    // numbers of one type, of each element as many as it has; bytes of any length are a list of u1
    other,   // what only its own format understands
  };
  Kind kind = Kind::other;
  /// Of one element; for `other` as stored. Of `string` and `list` what stands for one: its place in a heap (HDF5), or
  /// what an entry of a table would take.
  std::size_t bytes = 1;
  /// For `other`: what it is, in the format's own words: "compound of 3 members", "enum of 2 members", ...
  std::string other;
  /// The elements point to other places of their file (variable length, references): their bytes mean nothing
  /// elsewhere, so only their own format can move them.
  bool refers = false;
  /// Of a list: what it lists.
  Kind item_kind = Kind::other;
  std::size_t item_bytes = 0;

  /// A number or a text: the bytes of an element mean the same in every format.
  bool is_plain() const { return kind != Kind::other && !is_varying(); }
  bool is_number() const { return is_plain() && kind != Kind::text; }
  /// Elements of any length, see array/elements.h.
  bool is_varying() const { return kind == Kind::string || kind == Kind::list; }
  /// What a list lists.
  DType item() const;
  /// What codecs see as an element: of varying ones they get a stream of bytes.
  std::size_t codec_bytes() const { return is_varying() ? 1 : bytes; }
  ElementSize element() const { return {bytes, is_number() ? bytes : 1}; }
  /// "bool", "i4", "u2", "f8", "S1", "string", "list of i4"; for others the words.
  std::string name() const;

  friend bool operator==(const DType&, const DType&) = default;
};

/// A table entry for an element of any length: an address and a length.
inline constexpr std::size_t kVaryingBytes = 16;

/// Elements that do not refer: a text of any length, or a list of numbers of this type.
DType string_type();
DType list_type(const DType& item);
/// A type of which kind and size say everything.
DType sized_type(DType::Kind kind, std::size_t bytes);

/// "f4", "i8", "u1", "bool" and numpy names ("float32", "int16"); nothing if unknown.
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace chunkwise
