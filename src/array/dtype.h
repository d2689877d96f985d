#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "grid/shape.h"
#include "grid/strided_copy.h"

namespace chunkwise {

/// The type of an element, without its byte order (that is layout).
struct DType {
  enum class Kind : std::uint8_t {
    boolean,
    int_,
    uint,
    float_,
    complex_,    // two floats, the real part first
    datetime,    // an i8 that counts units since 1970-01-01, the smallest i8 for none
    timedelta,   // the same as a duration
    text,        // a fixed number of bytes that are characters, padding included; one byte is a netCDF char
    utf32,       // a fixed number of code points of four bytes each, padded with zeros
    raw,         // bytes without a meaning
    structured,  // members, one after the other without gaps
    string,      // a text of any length; in most formats UTF-8
    list,        // numbers of one type, of each element as many as it has; bytes of any length are a list of u1
    object,      // values of any length that only copies of whole chunks keep (json2 of Zarr v2)
    other,       // what only its own format understands
  };
  struct Member;
  /// A value that has a name. Of u8 the bits, as an i8.
  struct Name {
    std::string name;
    std::int64_t value = 0;
    friend bool operator==(const Name&, const Name&) = default;
  };

  DType() = default;
  DType(Kind its_kind, std::size_t its_bytes, std::string words = {}, bool refers_elsewhere = false);

  Kind kind = Kind::other;
  /// Of one element; for `other` as stored. Of `string` and `list` what stands for one: its place in a heap (HDF5), or
  /// what an entry of a table would take.
  std::size_t bytes = 1;
  /// For `other`: what it is, in the format's own words: "17-bit integer in 4 bytes", ... For `raw`: a tag, or "".
  std::string other;
  /// The elements point to other places of their file (variable length, references): their bytes mean nothing
  /// elsewhere, so only their own format can move them.
  bool refers = false;
  /// Of datetime and timedelta: "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as" or "generic"
  /// (not known); one count is n_units of it.
  std::string unit;
  std::int64_t n_units = 1;
  /// Of structured, in order; a member without a name is a gap.
  std::vector<Member> members;
  /// The path of the TypeNode that this type is, or ""; no part of what the elements are, so equality ignores it.
  std::string named;
  /// Of int_ and uint: an enumeration of these values, in order; empty: plain numbers.
  std::vector<Name> names;
  /// Of a list: what it lists.
  Kind item_kind = Kind::other;
  std::size_t item_bytes = 0;

  /// The bytes of an element mean the same in every format.
  bool is_plain() const { return kind != Kind::other && !is_varying(); }
  /// One number, or a truth value.
  bool is_number() const;
  /// Elements of any length, see array/elements.h.
  bool is_varying() const { return kind == Kind::string || kind == Kind::list || kind == Kind::object; }
  /// What a list lists.
  DType item() const;
  /// What codecs see as an element: of varying ones they get a stream of bytes.
  std::size_t codec_bytes() const { return is_varying() ? 1 : bytes; }
  /// Sizes for the copy. The members of a structured type have byte orders of their own, so those are never swapped.
  ElementSize element() const;
  /// "bool", "i4", "u2", "f8", "c16", "M8[us]", "S1", "U5", "V3", "compound of 2 members", "enum of 3 members",
  /// "string", "list of i4"; for others the words.
  std::string name() const;

  friend bool operator==(const DType&, const DType&);
};

struct DType::Member {
  std::string name;
  DType type;
  Shape shape;  // of an array in C order; rank 0: one value
  ByteOrder byte_order = kNativeOrder;

  /// All of its values; DType::bytes of a structured type is the sum of these.
  std::size_t bytes() const;
  friend bool operator==(const Member&, const Member&) = default;
};

inline DType::DType(Kind its_kind, std::size_t its_bytes, std::string words, bool refers_elsewhere)
    : kind(its_kind), bytes(its_bytes), other(std::move(words)), refers(refers_elsewhere) {}

/// A table entry for an element of any length: an address and a length.
inline constexpr std::size_t kVaryingBytes = 16;

/// Elements that do not refer: a text of any length, or a list of numbers of this type.
DType string_type();
DType list_type(const DType& item);

/// "f4", "i8", "u1", "bool", "c8" and numpy names ("float32", "int16", "complex64"); nothing if unknown.
std::optional<DType> parse_dtype(std::string_view name);

/// A structured type; sets the sizes. Throws Error{corrupt} if it is larger than 2^31 bytes or has no bytes.
DType structured_type(std::vector<DType::Member> members);

/// Members of a structured type, at any depth, that are words with a byte order: nothing if they have several, or there
/// are none, else theirs.
std::optional<ByteOrder> common_byte_order(const DType& dtype);
/// True if there is a word of more than one byte, at any depth.
bool has_byte_order(const DType& dtype);
/// Gives all members, at any depth, this byte order.
void set_member_order(DType& dtype, ByteOrder order);

/// Reverses the bytes of each word of elements: changes between the two byte orders.
void swap_words(const DType& dtype, MutableByteView elements);
void swap_words(std::size_t word_bytes, MutableByteView elements);
/// Changes elements of structured types that differ in nothing but byte orders from one to the other.
void reorder_members(const DType& from, const DType& to, MutableByteView elements);

}  // namespace chunkwise
