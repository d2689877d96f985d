// Arrays that are one run of bytes in C order, cut into runs.
#pragma once

#include <cstdint>

#include "array/meta.h"

namespace chunkwise {

/// Offset and length in bytes of what a chunk covers, from the array's first byte. The chunk must be a run.
struct LinearRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};
LinearRange linear_range(const ChunkGrid& grid, ChunkId id, std::size_t element_bytes);

/// The default cut of such an array: runs of at most about 1 MiB along the slowest axes, 1, ..., 1, n, full, ..., full.
Shape linear_chunk(const Shape& shape, std::size_t element_bytes);

/// Bytes of the whole array. Throws Error{corrupt} on overflow.
std::uint64_t linear_bytes(const ArrayMeta& meta);

/// Throws Error{internal} unless meta's chunks are runs of bytes without codecs, clipped at the end.
void check_linear(const ArrayMeta& meta);

}  // namespace chunkwise
