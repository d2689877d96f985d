// A sum over elements, to tell whether two arrangements of an array hold the same.
#pragma once

#include <cstdint>

#include "grid/strided_copy.h"

namespace chunkwise {

/// Every element adds a number that depends on its bits and its place in the array; so sums of parts add up to that of
/// the whole, in any order and however the parts are cut, laid out or swapped. Elements equal to the fill add nothing.
/// A single element that changes always changes the sum; several do but for one chance in about 2^64. Not made to
/// withstand intent. Immutable, thread-safe.
class ContentSum {
 public:
  ContentSum() = default;
  /// `fill`: one element, in `order`; empty: zeros.
  ContentSum(const Shape& array, ElementSize element, ByteView fill, ByteOrder order);

  /// Of the elements of `part`, in a dense buffer over `box` (which holds all of `part`).
  std::uint64_t of(const Box& part, const Box& box, const ElementLayout& layout, const std::byte* buffer) const;

 private:
  Shape array_;
  ElementSize element_;
  /// Of the fill, in this machine's order.
  Bytes fill_;
};

}  // namespace chunkwise
