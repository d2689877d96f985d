// Inner loops of copy_strided: one plane, that is the two innermost axes of a normalised copy.
#pragma once

#include <cstddef>

#include "grid/shape.h"

namespace chunkwise::strided {

/// Two axes; `inner` has the smaller destination stride. Strides in bytes.
struct Plane {
  Index n_outer = 1;
  Index src_outer = 0;
  Index dst_outer = 0;
  Index n_inner = 1;
  Index src_inner = 0;
  Index dst_inner = 0;
  std::size_t unit_bytes = 1;  // what moves, and swaps, as one
};

/// Copies a plane. Pure but for the destination.
using Kernel = void (*)(const Plane& plane, const std::byte* src, std::byte* dst);

/// The kernel for planes with these strides and unit.
Kernel choose_kernel(const Plane& plane, bool swap);

/// True if units of this size have kernels of their own.
constexpr bool is_fixed_unit(std::size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace chunkwise::strided
