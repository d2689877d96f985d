#pragma once

#include <vector>

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

/// Two halves along the slowest axis that has more than one element; nothing if the box is a single element. In C order
/// all elements of the first come before those of the second.
std::vector<Box> halves(const Box& box);

/// Where element number `i` in C order lies.
Shape position_in(const Box& box, Index i);

}  // namespace chunkwise
