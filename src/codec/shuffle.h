// The byte transposition behind the shuffle codec, in each instruction set it exists for.
#pragma once

#include <cstddef>

#include "base/bytes.h"

namespace chunkwise {

enum class ShuffleKernel {
  portable,  // plain C++
  sse2,      // 16 elements at a time; element sizes 2, 4, 8 and 16
  avx2,      // 32 elements at a time; element sizes 2, 4, 8 and 16
};

/// True if this machine can run the kernel.
bool shuffle_kernel_available(ShuffleKernel kernel);
/// The fastest one this machine can run.
ShuffleKernel best_shuffle_kernel();

/// Puts byte j of element i at j * n + i, n being the number of whole elements; bytes beyond them are copied to the
/// end. `target` has the size of `source` and does not overlap it; element_bytes >= 1. Sizes a kernel is not made for
/// take the portable way. Thread-safe.
void shuffle_bytes(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target);
/// The inverse.
void unshuffle_bytes(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target);

}  // namespace chunkwise
