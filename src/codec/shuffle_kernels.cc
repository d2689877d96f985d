// Transposing a block of 16 elements of B bytes held in B registers: number the 16 * B bytes by
// (element, byte-in-element) in binary. Interleaving the first half of the registers with the second moves every byte
// to the number rotated left by one bit. Four rotations turn (element, byte) into (byte, element), which is shuffle;
// log2(B) rotations turn it back. A 32-byte register does two such blocks, one in each half.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "codec/shuffle.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define CHUNKWISE_UNROLL _Pragma("unroll")
#else
#define CHUNKWISE_UNROLL _Pragma("GCC unroll 16")
#endif

namespace chunkwise {
namespace {

// Elements per step of the portable loops: source and target of a step stay in the first-level cache.
constexpr std::size_t kPortableStep = 256;

void shuffle_portable(std::size_t element_bytes, std::size_t first, std::size_t n, const std::byte* source,
                      std::byte* target) {
  for (std::size_t start = first; start < n; start += kPortableStep) {
    const std::size_t end = std::min(n, start + kPortableStep);
    for (std::size_t j = 0; j < element_bytes; ++j) {
      const std::byte* from = source + j;
      std::byte* to = target + j * n;
      for (std::size_t i = start; i < end; ++i) to[i] = from[i * element_bytes];
    }
  }
}

void unshuffle_portable(std::size_t element_bytes, std::size_t first, std::size_t n, const std::byte* source,
                        std::byte* target) {
  for (std::size_t start = first; start < n; start += kPortableStep) {
    const std::size_t end = std::min(n, start + kPortableStep);
    for (std::size_t j = 0; j < element_bytes; ++j) {
      const std::byte* from = source + j * n;
      std::byte* to = target + j;
      for (std::size_t i = start; i < end; ++i) to[i * element_bytes] = from[i];
    }
  }
}

// Each kernel does the elements it can and returns their number; the portable loop finishes.
using Kernel = std::size_t (*)(std::size_t n, const std::byte* source, std::byte* target);

#if defined(__x86_64__)

template <int kBytes>
std::size_t shuffle_sse2(std::size_t n, const std::byte* source, std::byte* target) {
  constexpr std::size_t kStep = 16;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m128i r[kBytes];
    __m128i t[kBytes];
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      r[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i * kBytes + 16 * k));
    }
    CHUNKWISE_UNROLL
    for (int round = 0; round < 4; ++round) {
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes / 2; ++k) {
        t[2 * k] = _mm_unpacklo_epi8(r[k], r[k + kBytes / 2]);
        t[2 * k + 1] = _mm_unpackhi_epi8(r[k], r[k + kBytes / 2]);
      }
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes; ++k) r[k] = t[k];
    }
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + static_cast<std::size_t>(k) * n + i), r[k]);
    }
  }
  return i;
}

template <int kBytes, int kRounds>
std::size_t unshuffle_sse2(std::size_t n, const std::byte* source, std::byte* target) {
  constexpr std::size_t kStep = 16;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m128i r[kBytes];
    __m128i t[kBytes];
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      r[k] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + static_cast<std::size_t>(k) * n + i));
    }
    CHUNKWISE_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes / 2; ++k) {
        t[2 * k] = _mm_unpacklo_epi8(r[k], r[k + kBytes / 2]);
        t[2 * k + 1] = _mm_unpackhi_epi8(r[k], r[k + kBytes / 2]);
      }
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes; ++k) r[k] = t[k];
    }
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i * kBytes + 16 * k), r[k]);
    }
  }
  return i;
}

template <int kBytes>
__attribute__((target("avx2"))) std::size_t shuffle_avx2(std::size_t n, const std::byte* source, std::byte* target) {
  constexpr std::size_t kStep = 32;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m256i r[kBytes];
    __m256i t[kBytes];
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      const std::byte* from = source + i * kBytes + 16 * k;
      const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16 * kBytes));
      r[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    }
    CHUNKWISE_UNROLL
    for (int round = 0; round < 4; ++round) {
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes / 2; ++k) {
        t[2 * k] = _mm256_unpacklo_epi8(r[k], r[k + kBytes / 2]);
        t[2 * k + 1] = _mm256_unpackhi_epi8(r[k], r[k + kBytes / 2]);
      }
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes; ++k) r[k] = t[k];
    }
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(target + static_cast<std::size_t>(k) * n + i), r[k]);
    }
  }
  return i;
}

template <int kBytes, int kRounds>
__attribute__((target("avx2"))) std::size_t unshuffle_avx2(std::size_t n, const std::byte* source, std::byte* target) {
  constexpr std::size_t kStep = 32;
  std::size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    __m256i r[kBytes];
    __m256i t[kBytes];
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      r[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + static_cast<std::size_t>(k) * n + i));
    }
    CHUNKWISE_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes / 2; ++k) {
        t[2 * k] = _mm256_unpacklo_epi8(r[k], r[k + kBytes / 2]);
        t[2 * k + 1] = _mm256_unpackhi_epi8(r[k], r[k + kBytes / 2]);
      }
      CHUNKWISE_UNROLL
      for (int k = 0; k < kBytes; ++k) r[k] = t[k];
    }
    CHUNKWISE_UNROLL
    for (int k = 0; k < kBytes; ++k) {
      std::byte* to = target + i * kBytes + 16 * k;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(r[k]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * kBytes), _mm256_extracti128_si256(r[k], 1));
    }
  }
  return i;
}

Kernel shuffle_kernel(ShuffleKernel kernel, std::size_t element_bytes) {
  const bool wide = kernel == ShuffleKernel::avx2;
  if (kernel == ShuffleKernel::portable) return nullptr;
  switch (element_bytes) {
    case 2:
      return wide ? shuffle_avx2<2> : shuffle_sse2<2>;
    case 4:
      return wide ? shuffle_avx2<4> : shuffle_sse2<4>;
    case 8:
      return wide ? shuffle_avx2<8> : shuffle_sse2<8>;
    case 16:
      return wide ? shuffle_avx2<16> : shuffle_sse2<16>;
    default:
      return nullptr;
  }
}

Kernel unshuffle_kernel(ShuffleKernel kernel, std::size_t element_bytes) {
  const bool wide = kernel == ShuffleKernel::avx2;
  if (kernel == ShuffleKernel::portable) return nullptr;
  switch (element_bytes) {
    case 2:
      return wide ? unshuffle_avx2<2, 1> : unshuffle_sse2<2, 1>;
    case 4:
      return wide ? unshuffle_avx2<4, 2> : unshuffle_sse2<4, 2>;
    case 8:
      return wide ? unshuffle_avx2<8, 3> : unshuffle_sse2<8, 3>;
    case 16:
      return wide ? unshuffle_avx2<16, 4> : unshuffle_sse2<16, 4>;
    default:
      return nullptr;
  }
}

#else

Kernel shuffle_kernel(ShuffleKernel, std::size_t) {
  return nullptr;
}
Kernel unshuffle_kernel(ShuffleKernel, std::size_t) {
  return nullptr;
}

#endif

using Portable = void (*)(std::size_t, std::size_t, std::size_t, const std::byte*, std::byte*);

void run(Kernel kernel, Portable portable, std::size_t element_bytes, ByteView source, MutableByteView target) {
  CHUNKWISE_CHECK(source.size() == target.size());
  CHUNKWISE_CHECK(element_bytes >= 1);
  const std::size_t n = source.size() / element_bytes;
  if (element_bytes == 1 || n <= 1) {
    if (!source.empty()) std::memcpy(target.data(), source.data(), source.size());
    return;
  }
  const std::size_t done = kernel != nullptr ? kernel(n, source.data(), target.data()) : 0;
  portable(element_bytes, done, n, source.data(), target.data());
  const std::size_t whole = n * element_bytes;
  if (whole < source.size()) std::memcpy(target.data() + whole, source.data() + whole, source.size() - whole);
}

}  // namespace

bool shuffle_kernel_available(ShuffleKernel kernel) {
  switch (kernel) {
    case ShuffleKernel::portable:
      return true;
#if defined(__x86_64__)
    case ShuffleKernel::sse2:
      return true;
    case ShuffleKernel::avx2:
      return __builtin_cpu_supports("avx2") != 0;
#else
    case ShuffleKernel::sse2:
    case ShuffleKernel::avx2:
      return false;
#endif
  }
  return false;
}

ShuffleKernel best_shuffle_kernel() {
  if (shuffle_kernel_available(ShuffleKernel::avx2)) return ShuffleKernel::avx2;
  if (shuffle_kernel_available(ShuffleKernel::sse2)) return ShuffleKernel::sse2;
  return ShuffleKernel::portable;
}

void shuffle_bytes(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target) {
  run(shuffle_kernel(kernel, element_bytes), shuffle_portable, element_bytes, source, target);
}

void unshuffle_bytes(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target) {
  run(unshuffle_kernel(kernel, element_bytes), unshuffle_portable, element_bytes, source, target);
}

}  // namespace chunkwise
