#pragma once

#include "grid/shape.h"

namespace chunkwise {

/// A hyperslab with step 1: elements origin[i] .. origin[i] + shape[i] - 1 on each axis.
struct Box {
  Shape origin;
  Shape shape;

  bool empty() const;  // an axis has no element
  friend bool operator==(const Box&, const Box&) = default;
};

/// The whole of an array.
Box whole(const Shape& array);

/// The common part; shapes may be 0 on axes where nothing is common. Ranks must agree.
Box intersect(const Box& a, const Box& b);

/// True if every element of `inner` is in `outer`.
bool contains(const Box& outer, const Box& inner);

}  // namespace chunkwise
