// A walk over the elements of a box that lie in a larger one.
#pragma once

#include "grid/box.h"

namespace chunkwise {

/// Calls `step` for every element of `part` in C order with the offset that it has in a buffer over `box`, which it
/// lies in; `strides` are the offsets from one element to the next along each axis.
template <typename Step>
void for_each_offset(const Box& box, const Shape& strides, const Box& part, const Step& step) {
  if (part.empty()) return;
  const int rank = part.shape.rank();
  Index offset = 0;
  for (int axis = 0; axis < rank; ++axis) offset += (part.origin[axis] - box.origin[axis]) * strides[axis];
  Shape at = Shape::filled(rank, 0);
  for (;;) {
    step(offset);
    int axis = rank - 1;
    for (; axis >= 0; --axis) {
      offset += strides[axis];
      if (++at[axis] < part.shape[axis]) break;
      offset -= strides[axis] * part.shape[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace chunkwise
