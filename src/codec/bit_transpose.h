// The bit transposition behind the bitshuffle codec.
#pragma once

#include <cstddef>

#include "base/bytes.h"
#include "codec/shuffle.h"

namespace chunkwise {

/// Bit k of byte j of element i goes to bit i % 8 of byte i / 8 of row 8 * j + k, a row having n / 8 bytes for n
/// elements. The size is a multiple of 8 * element_bytes; `target` and `work` have the size of `source` and nothing
/// overlaps. Thread-safe.
void transpose_bits(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target,
                    MutableByteView work);
/// The inverse.
void untranspose_bits(ShuffleKernel kernel, std::size_t element_bytes, ByteView source, MutableByteView target,
                      MutableByteView work);

}  // namespace chunkwise
