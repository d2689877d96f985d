#include "codec/checksums.h"

#include <isa-l/crc.h>
#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/endian.h"

namespace chunkwise {
namespace {

// Brings a sum below 2^32 into [0, 65535] without making 0 of 65535, as the stored form requires.
std::uint32_t fold(std::uint64_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

// Three words that a hash stirs: lookup3 of Bob Jenkins.
struct Stirred {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;

  void add(const std::byte* twelve) {
    a += load_little<std::uint32_t>(twelve);
    b += load_little<std::uint32_t>(twelve + 4);
    c += load_little<std::uint32_t>(twelve + 8);
  }

  void mix() {
    const auto turn = [](std::uint32_t& from, std::uint32_t& by, std::uint32_t third, int n) {
      from = (from - by) ^ std::rotl(by, n);
      by += third;
    };
    turn(a, c, b, 4);
    turn(b, a, c, 6);
    turn(c, b, a, 8);
    turn(a, c, b, 16);
    turn(b, a, c, 19);
    turn(c, b, a, 4);
  }

  void finish() {
    const auto turn = [](std::uint32_t& word, std::uint32_t by, int n) { word = (word ^ by) - std::rotl(by, n); };
    turn(c, b, 14);
    turn(a, c, 11);
    turn(b, a, 25);
    turn(c, b, 16);
    turn(a, c, 4);
    turn(b, a, 14);
    turn(c, b, 24);
  }
};

}  // namespace

std::uint32_t fletcher32(ByteView data) {
  // A block is short enough for its weighted sum to fit 32 bits, so that the loop vectorises.
  constexpr std::size_t kBlockWords = 256;
  static_assert(kBlockWords * (kBlockWords + 1) / 2 * 0xFFFF <= 0xFFFFFFFF);
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const std::byte* at = data.data();
  std::size_t n_words = data.size() / 2;
  while (n_words > 0) {
    const std::size_t n = std::min(n_words, kBlockWords);
    std::uint32_t plain = 0;
    std::uint32_t weighted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::uint16_t stored = 0;
      std::memcpy(&stored, at + 2 * i, 2);
      const std::uint32_t word = static_cast<std::uint16_t>(stored << 8 | stored >> 8);
      plain += word;
      weighted += static_cast<std::uint32_t>(n - i) * word;
    }
    sum2 = fold(std::uint64_t{sum2} + std::uint64_t{sum1} * n + weighted);
    sum1 = fold(std::uint64_t{sum1} + plain);
    at += 2 * n;
    n_words -= n;
  }
  if (data.size() % 2 != 0) {
    sum1 = fold(sum1 + (static_cast<std::uint32_t>(*at) << 8));
    sum2 = fold(std::uint64_t{sum2} + sum1);
  }
  return sum2 << 16 | sum1;
}

std::uint32_t crc32c(ByteView data) {
  // The library's length is an int.
  constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
  std::uint32_t crc = 0xFFFFFFFF;
  while (!data.empty()) {
    const ByteView piece = data.first(std::min(data.size(), kPieceBytes));
    // It takes a mutable pointer and only reads.
    auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    crc = crc32_iscsi(bytes, static_cast<int>(piece.size()), crc);
    data = data.subspan(piece.size());
  }
  return ~crc;
}

std::uint32_t crc32(ByteView data) {
  return libdeflate_crc32(0, data.data(), data.size());
}

std::uint32_t adler32(ByteView data) {
  return libdeflate_adler32(1, data.data(), data.size());
}

std::uint32_t jenkins_lookup3(ByteView data, std::uint32_t initial) {
  constexpr std::size_t kBlockBytes = 12;
  const std::uint32_t start = 0xDEADBEEF + static_cast<std::uint32_t>(data.size()) + initial;
  Stirred words{start, start, start};
  if (data.empty()) return words.c;
  // The last block is never a full step of the loop; it may be a full block.
  for (; data.size() > kBlockBytes; data = data.subspan(kBlockBytes)) {
    words.add(data.data());
    words.mix();
  }
  std::array<std::byte, kBlockBytes> last{};
  std::memcpy(last.data(), data.data(), data.size());
  words.add(last.data());
  words.finish();
  return words.c;
}

}  // namespace chunkwise
