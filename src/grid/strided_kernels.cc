// How the kernels are chosen, for a unit of E bytes:
//   both inner strides are E            runs: memcpy, or a few fixed moves where a call would cost more than the copy
//   inner is E in dst, outer is E in src a transpose, by way of a tile on the stack, so that both sides see runs
//   outer is closer in src than inner    the same without unit strides: blocks that fit the cache
//   else                                 plain loops
#include "grid/strided_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace chunkwise::strided {
namespace {

// A unit of fixed size, loaded and stored without regard to alignment.
template <std::size_t kBytes>
struct Unit;
template <>
struct Unit<1> {
  using Word = std::uint8_t;
  static Word swapped(Word word) { return word; }
};
template <>
struct Unit<2> {
  using Word = std::uint16_t;
  static Word swapped(Word word) { return __builtin_bswap16(word); }
};
template <>
struct Unit<4> {
  using Word = std::uint32_t;
  static Word swapped(Word word) { return __builtin_bswap32(word); }
};
template <>
struct Unit<8> {
  using Word = std::uint64_t;
  static Word swapped(Word word) { return __builtin_bswap64(word); }
};
template <>
struct Unit<16> {
  struct Word {
    std::uint64_t low;
    std::uint64_t high;
  };
  static Word swapped(Word word) { return {__builtin_bswap64(word.high), __builtin_bswap64(word.low)}; }
};

template <std::size_t kBytes, bool kSwap>
inline void move_unit(const std::byte* src, std::byte* dst) {
  typename Unit<kBytes>::Word word;
  std::memcpy(&word, src, kBytes);
  if constexpr (kSwap) word = Unit<kBytes>::swapped(word);
  std::memcpy(dst, &word, kBytes);
}

// A run whose length lies between kHalf and 2 * kHalf: two moves of fixed size that overlap in the middle.
template <std::size_t kHalf>
void copy_short_runs(const Plane& plane, std::size_t run_bytes, const std::byte* src, std::byte* dst) {
  struct Block {
    std::byte bytes[kHalf];
  };
  const std::size_t tail = run_bytes - kHalf;
  for (Index i = 0; i < plane.n_outer; ++i) {
    Block first;
    Block last;
    std::memcpy(&first, src, kHalf);
    std::memcpy(&last, src + tail, kHalf);
    std::memcpy(dst, &first, kHalf);
    std::memcpy(dst + tail, &last, kHalf);
    src += plane.src_outer;
    dst += plane.dst_outer;
  }
}

void copy_runs(const Plane& plane, const std::byte* src, std::byte* dst) {
  const std::size_t run_bytes = static_cast<std::size_t>(plane.n_inner) * plane.unit_bytes;
  if (run_bytes >= 2 && run_bytes <= 128) {
    if (run_bytes <= 4) return copy_short_runs<2>(plane, run_bytes, src, dst);
    if (run_bytes <= 8) return copy_short_runs<4>(plane, run_bytes, src, dst);
    if (run_bytes <= 16) return copy_short_runs<8>(plane, run_bytes, src, dst);
    if (run_bytes <= 32) return copy_short_runs<16>(plane, run_bytes, src, dst);
    if (run_bytes <= 64) return copy_short_runs<32>(plane, run_bytes, src, dst);
    return copy_short_runs<64>(plane, run_bytes, src, dst);
  }
  for (Index i = 0; i < plane.n_outer; ++i) {
    std::memcpy(dst, src, run_bytes);
    src += plane.src_outer;
    dst += plane.dst_outer;
  }
}

// kSrcStep, kDstStep: the inner strides if they are known when compiling, else 0.
template <std::size_t kBytes, bool kSwap, Index kSrcStep, Index kDstStep>
void copy_plain(const Plane& plane, const std::byte* src, std::byte* dst) {
  const Index src_step = kSrcStep != 0 ? kSrcStep : plane.src_inner;
  const Index dst_step = kDstStep != 0 ? kDstStep : plane.dst_inner;
  for (Index i = 0; i < plane.n_outer; ++i) {
    const std::byte* const src_run = src + i * plane.src_outer;
    std::byte* const dst_run = dst + i * plane.dst_outer;
    for (Index j = 0; j < plane.n_inner; ++j) move_unit<kBytes, kSwap>(src_run + j * src_step, dst_run + j * dst_step);
  }
}

// Blocks of the plane that stay in the first-level cache, for planes whose sides run across each other.
template <std::size_t kBytes, bool kSwap>
void copy_blocked(const Plane& plane, const std::byte* src, std::byte* dst) {
  // Where one axis is short, the other may have longer blocks.
  const Index outer_block = plane.n_inner <= 8 ? 256 : 16;
  const Index inner_block = plane.n_outer <= 8 ? 256 : 16;
  for (Index i = 0; i < plane.n_outer; i += outer_block) {
    for (Index j = 0; j < plane.n_inner; j += inner_block) {
      Plane block = plane;
      block.n_outer = std::min(outer_block, plane.n_outer - i);
      block.n_inner = std::min(inner_block, plane.n_inner - j);
      copy_plain<kBytes, kSwap, 0, 0>(block, src + i * plane.src_outer + j * plane.src_inner,
                                      dst + i * plane.dst_outer + j * plane.dst_inner);
    }
  }
}

// Turns one full or partial tile: rows of `src` become columns of `dst`.
template <std::size_t kBytes, bool kSwap, Index kTile>
inline void transpose_tile(const Plane& plane, Index n_outer, Index n_inner, const std::byte* src, std::byte* dst) {
  constexpr auto kUnit = static_cast<Index>(kBytes);
  alignas(64) std::byte tile[static_cast<std::size_t>(kTile * kTile) * kBytes];
  for (Index j = 0; j < n_inner; ++j) {
    std::memcpy(tile + j * kTile * kUnit, src + j * plane.src_inner, static_cast<std::size_t>(n_outer) * kBytes);
  }
  for (Index i = 0; i < n_outer; ++i) {
    const std::byte* const column = tile + i * kUnit;
    std::byte* const row = dst + i * plane.dst_outer;
    for (Index j = 0; j < n_inner; ++j) move_unit<kBytes, kSwap>(column + j * kTile * kUnit, row + j * kUnit);
  }
}

// The outer axis is contiguous in the source, the inner one in the destination.
template <std::size_t kBytes, bool kSwap>
void copy_transposed(const Plane& plane, const std::byte* src, std::byte* dst) {
  constexpr Index kTile = kBytes == 16 ? 32 : 64;
  for (Index i = 0; i < plane.n_outer; i += kTile) {
    const Index n_outer = std::min(kTile, plane.n_outer - i);
    for (Index j = 0; j < plane.n_inner; j += kTile) {
      const Index n_inner = std::min(kTile, plane.n_inner - j);
      const std::byte* const from = src + i * plane.src_outer + j * plane.src_inner;
      std::byte* const to = dst + i * plane.dst_outer + j * plane.dst_inner;
      if (n_outer == kTile && n_inner == kTile) {
        transpose_tile<kBytes, kSwap, kTile>(plane, kTile, kTile, from, to);
      } else {
        transpose_tile<kBytes, kSwap, kTile>(plane, n_outer, n_inner, from, to);
      }
    }
  }
}

// Words of a size no number has.
void copy_any_swapped(const Plane& plane, const std::byte* src, std::byte* dst) {
  for (Index i = 0; i < plane.n_outer; ++i) {
    for (Index j = 0; j < plane.n_inner; ++j) {
      const std::byte* const from = src + i * plane.src_outer + j * plane.src_inner;
      std::reverse_copy(from, from + plane.unit_bytes, dst + i * plane.dst_outer + j * plane.dst_inner);
    }
  }
}

template <std::size_t kBytes, bool kSwap>
Kernel choose_fixed(const Plane& plane) {
  constexpr auto kUnit = static_cast<Index>(kBytes);
  const bool unit_src = plane.src_inner == kUnit;
  const bool unit_dst = plane.dst_inner == kUnit;
  if (unit_src && unit_dst) return kSwap ? copy_plain<kBytes, kSwap, kUnit, kUnit> : copy_runs;
  const bool crossed = plane.n_outer > 1 && plane.n_inner > 1 && std::abs(plane.src_outer) < std::abs(plane.src_inner);
  if (crossed) {
    const bool long_axes = plane.n_outer > 8 && plane.n_inner > 8;
    if (long_axes && unit_dst && plane.src_outer == kUnit) return copy_transposed<kBytes, kSwap>;
    return copy_blocked<kBytes, kSwap>;
  }
  if (unit_dst) return copy_plain<kBytes, kSwap, 0, kUnit>;
  if (unit_src) return copy_plain<kBytes, kSwap, kUnit, 0>;
  return copy_plain<kBytes, kSwap, 0, 0>;
}

template <bool kSwap>
Kernel choose_by_size(const Plane& plane) {
  switch (plane.unit_bytes) {
    case 1:
      return choose_fixed<1, false>(plane);
    case 2:
      return choose_fixed<2, kSwap>(plane);
    case 4:
      return choose_fixed<4, kSwap>(plane);
    case 8:
      return choose_fixed<8, kSwap>(plane);
    case 16:
      return choose_fixed<16, kSwap>(plane);
    default:
      return copy_any_swapped;
  }
}

}  // namespace

Kernel choose_kernel(const Plane& plane, bool swap) {
  return swap ? choose_by_size<true>(plane) : choose_by_size<false>(plane);
}

}  // namespace chunkwise::strided
