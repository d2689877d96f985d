// Numbers of any type, a block at a time, in the widest type of their kind; and codecs that compute with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/codec.h"
#include "codec/elements.h"

namespace chunkwise {

struct NumberBlock {
  static constexpr std::size_t kMost = 1024;

  ElementKind kind = ElementKind::int_;
  std::size_t n = 0;
  // The one that the kind says: booleans and integers (the bits of unsigned ones), or floats.
  std::array<std::int64_t, kMost> whole;
  std::array<double, kMost> real;
};

/// Reads block.n numbers; exact, except that floats that signal become quiet.
void read_numbers(const Elements& elements, const std::byte* from, NumberBlock& block);
/// Casts the numbers as C and numpy do: integers wrap around, floats lose their fraction or are rounded to the nearest,
/// everything but zero is true. What C leaves undefined, floats that the integer type cannot hold, is as x86 has it:
/// the smallest integer of 32 bits, for larger types of 64 bits, and of that the low bits.
void write_numbers(const NumberBlock& block, const Elements& elements, std::byte* to);
/// What write_numbers and read_numbers make of the block. Less than that where the kind is the same and nothing can be
/// lost.
void cast_numbers(const Elements& to, NumberBlock& block);

/// A codec that makes one number of each number it gets, of the same or of another type.
class NumberCodec : public Codec {
 public:
  NumberCodec(std::string_view name, const Elements& decoded, const Elements& encoded)
      : name_(name), decoded_(decoded), encoded_(encoded) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const final;
  bool fixed_size() const final { return true; }
  // Blocks lie on the stack.
  std::size_t scratch_bytes(std::size_t) const final { return 2 * sizeof(NumberBlock); }
  /// Throws Error{unsupported} also where decoding would not give back a number as it is, to the last bit.
  void encode(ByteView decoded, Bytes& encoded) const final;
  bool encode_or_skip(ByteView decoded, Bytes& encoded) const final;
  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const final;

 protected:
  /// What one block leaves for the next; zero at first.
  struct Carry {
    std::int64_t whole = 0;
    double real = 0;
  };
  /// Numbers of the encoded type, and what is to be cast to the decoded type; and the other way round.
  virtual void decode_block(NumberBlock& block, Carry& carry) const = 0;
  virtual void encode_block(NumberBlock& block, Carry& carry) const = 0;

  std::string_view name() const { return name_; }
  const Elements& decoded_elements() const { return decoded_; }
  const Elements& encoded_elements() const { return encoded_; }

 private:
  void encode_numbers(ByteView decoded, std::byte* to) const;

  std::string_view name_;
  Elements decoded_;
  Elements encoded_;
};

}  // namespace chunkwise
