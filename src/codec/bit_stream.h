// Numbers of any number of bits one after the other, most significant bit first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "codec/endian.h"

namespace chunkwise {

/// The lowest n_bits (0 to 64) set.
inline std::uint64_t low_bits(unsigned n_bits) {
  return n_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n_bits) - 1;
}

/// Whoever reads has made sure that there are enough bits.
class BitReader {
 public:
  explicit BitReader(ByteView bytes) : bytes_(bytes) {}

  /// 1 <= n_bits <= 64.
  std::uint64_t read(unsigned n_bits) {
    const std::size_t byte = at_ / 8;
    const auto skip = static_cast<unsigned>(at_ % 8);
    at_ += n_bits;
    if (byte + 8 <= bytes_.size() && skip + n_bits <= 64) {
      const auto word = load_big<std::uint64_t>(bytes_.data() + byte);
      return word << skip >> (64 - n_bits);
    }
    // The end, and numbers that touch nine bytes.
    std::uint64_t value = 0;
    unsigned left = n_bits;
    for (std::size_t i = byte, first = skip; left > 0; ++i, first = 0) {
      const auto has = static_cast<unsigned>(8 - first);
      const unsigned take = left < has ? left : has;
      const std::uint64_t part = static_cast<std::uint64_t>(bytes_[i]) >> (has - take) & low_bits(take);
      value = value << take | part;
      left -= take;
    }
    return value;
  }

 private:
  ByteView bytes_;
  std::size_t at_ = 0;  // in bits
};

/// Whoever writes has made sure that there is enough room.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}

  /// 1 <= n_bits <= 64; value has no other bits.
  void write(std::uint64_t value, unsigned n_bits) {
    while (n_bits > 0) {
      const unsigned take = n_bits < free_ ? n_bits : free_;
      n_bits -= take;
      free_ -= take;
      pending_ |= static_cast<unsigned>(value >> n_bits & low_bits(take)) << free_;
      if (free_ == 0) flush();
    }
  }
  /// Writes the last, perhaps empty, byte and returns the end.
  std::byte* finish() {
    flush();
    return to_;
  }

 private:
  void flush() {
    *to_++ = static_cast<std::byte>(pending_);
    pending_ = 0;
    free_ = 8;
  }

  std::byte* to_;
  unsigned pending_ = 0;
  unsigned free_ = 8;
};

}  // namespace chunkwise
