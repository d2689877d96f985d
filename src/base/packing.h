// Numbers and bytes packed one after another, for what we store for ourselves. Numbers take as few bytes as they need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace chunkwise {

/// Appends to a growing text of bytes. The form: a number is its bits in groups of 7, lowest first, bit 8 set on all
/// but the last (LEB128); a text is its length as a number, then its bytes.
class Packer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) packed_ += static_cast<char>((value & 0x7fU) | 0x80U);
    packed_ += static_cast<char>(value);
  }
  void text(std::string_view value) {
    number(value.size());
    packed_ += value;
  }
  void bytes(ByteView value) { text(as_text(value)); }

  ByteView view() const { return as_bytes(packed_); }
  const std::string& packed() const { return packed_; }
  std::string take() { return std::move(packed_); }

 private:
  std::string packed_;
};

/// Reads what a Packer wrote. Every member throws Error{corrupt} where the bytes end early.
class Unpacker {
 public:
  explicit Unpacker(ByteView packed) : rest_(packed) {}

  std::uint64_t number();
  /// Lies in the packed bytes.
  ByteView bytes();
  std::string text() { return std::string(as_text(bytes())); }
  bool at_end() const { return rest_.empty(); }

 private:
  ByteView rest_;
};

}  // namespace chunkwise
