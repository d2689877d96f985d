// The bytes of zip files: signatures, and numbers in little-endian order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace chunkwise::zip {

inline constexpr std::uint32_t kLocalSignature = 0x04034b50;
inline constexpr std::uint32_t kCentralSignature = 0x02014b50;
inline constexpr std::uint32_t kEndSignature = 0x06054b50;
inline constexpr std::uint32_t kEnd64Signature = 0x06064b50;
inline constexpr std::uint32_t kLocator64Signature = 0x07064b50;

// Sizes without what varies: names, extra fields, comments.
inline constexpr std::size_t kLocalBytes = 30;
inline constexpr std::size_t kCentralBytes = 46;
inline constexpr std::size_t kEndBytes = 22;
inline constexpr std::size_t kEnd64Bytes = 56;
inline constexpr std::size_t kLocator64Bytes = 20;

/// In the place of a number that the zip64 fields tell.
inline constexpr std::uint32_t kIn64 = 0xffffffff;
inline constexpr std::uint16_t kIn64Short = 0xffff;
inline constexpr std::uint16_t kExtra64 = 1;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;
inline constexpr std::uint16_t kFlagEncrypted = 1;
inline constexpr std::uint16_t kFlagUtf8 = 1U << 11U;

template <typename Number>
Number get(ByteView bytes, std::size_t offset) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value | static_cast<Number>(bytes[offset + i]) << (8 * i));
  return value;
}

inline std::uint16_t get16(ByteView bytes, std::size_t offset) {
  return get<std::uint16_t>(bytes, offset);
}
inline std::uint32_t get32(ByteView bytes, std::size_t offset) {
  return get<std::uint32_t>(bytes, offset);
}
inline std::uint64_t get64(ByteView bytes, std::size_t offset) {
  return get<std::uint64_t>(bytes, offset);
}

/// Appends numbers to a buffer that is large enough.
class Putter {
 public:
  explicit Putter(std::byte* at) : at_(at) {}
  template <typename Number>
  Putter& put(Number value) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) *at_++ = static_cast<std::byte>(value >> (8 * i));
    return *this;
  }
  std::byte* at() const { return at_; }

 private:
  std::byte* at_;
};

}  // namespace chunkwise::zip
