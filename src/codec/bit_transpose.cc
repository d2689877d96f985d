// In three steps, each fast by itself on data in the first-level cache: shuffling the elements' bytes gives planes of
// bytes; in a plane the bits of 8 neighbouring bytes are a square that is turned over; shuffling these squares as
// elements of 8 bytes gathers the rows.
#include "codec/bit_transpose.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace chunkwise {
namespace {

constexpr std::size_t kSquareBytes = 8;

// Bit c of byte r becomes bit r of byte c, by exchanging ever larger blocks across the diagonal. Its own inverse.
// The first byte in memory must be the lowest.
inline std::uint64_t turned(std::uint64_t square) {
  std::uint64_t moved = (square ^ (square >> 7)) & 0x00AA00AA00AA00AAU;
  square ^= moved ^ (moved << 7);
  moved = (square ^ (square >> 14)) & 0x0000CCCC0000CCCCU;
  square ^= moved ^ (moved << 14);
  moved = (square ^ (square >> 28)) & 0x00000000F0F0F0F0U;
  return square ^ moved ^ (moved << 28);
}

inline void turn_all(const std::byte* source, std::byte* target, std::size_t n_squares) {
  for (std::size_t i = 0; i < n_squares; ++i) {
    std::uint64_t square = 0;
    std::memcpy(&square, source + i * kSquareBytes, kSquareBytes);
    square = turned(square);
    std::memcpy(target + i * kSquareBytes, &square, kSquareBytes);
  }
}

#if defined(__x86_64__)
// The same loop, compiled for wider registers.
__attribute__((target("avx2"))) void turn_all_avx2(const std::byte* source, std::byte* target, std::size_t n_squares) {
  for (std::size_t i = 0; i < n_squares; ++i) {
    std::uint64_t square = 0;
    std::memcpy(&square, source + i * kSquareBytes, kSquareBytes);
    square = turned(square);
    std::memcpy(target + i * kSquareBytes, &square, kSquareBytes);
  }
}
#endif

void turn(ShuffleKernel kernel, ByteView source, MutableByteView target) {
  const std::size_t n_squares = source.size() / kSquareBytes;
#if defined(__x86_64__)
  if (kernel == ShuffleKernel::avx2) return turn_all_avx2(source.data(), target.data(), n_squares);
#else
  (void)kernel;
#endif
  turn_all(source.data(), target.data(), n_squares);
}

void check_sizes(std::size_t element_bytes, ByteView source, ByteView target, ByteView work) {
  CHUNKWISE_CHECK(element_bytes >= 1 && source.size() % (kSquareBytes * element_bytes) == 0);
  CHUNKWISE_CHECK(target.size() == source.size() && work.size() == source.size());
}

}  // namespace

void transpose_bits(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target,
                    MutableByteView work) {
  check_sizes(element_bytes, source, target, work);
  shuffle_bytes(kernel, element_bytes, source, target);
  turn(kernel, target, work);
  const std::size_t plane_bytes = source.size() / element_bytes;
  for (std::size_t j = 0; j < element_bytes; ++j) {
    shuffle_bytes(kernel, kSquareBytes, work.subspan(j * plane_bytes, plane_bytes),
                  target.subspan(j * plane_bytes, plane_bytes));
  }
}

void untranspose_bits(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target,
                      MutableByteView work) {
  check_sizes(element_bytes, source, target, work);
  const std::size_t plane_bytes = source.size() / element_bytes;
  for (std::size_t j = 0; j < element_bytes; ++j) {
    unshuffle_bytes(kernel, kSquareBytes, source.subspan(j * plane_bytes, plane_bytes),
                    target.subspan(j * plane_bytes, plane_bytes));
  }
  turn(kernel, target, work);
  unshuffle_bytes(kernel, element_bytes, work, target);
}

}  // namespace chunkwise
