// Seeded random shapes and layouts for the property tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "grid/box.h"
#include "grid/strided_copy.h"

namespace chunkwise::testing {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [low, high].
  Index index(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(engine_); }
  bool coin() { return index(0, 1) == 1; }
  int rank(int highest) { return static_cast<int>(index(0, highest)); }

  /// Short axes, so that many axes stay small; now and then a long one.
  Shape shape(int rank, Index lowest = 1) {
    Shape shape = Shape::filled(rank, 1);
    for (Index& extent : shape) extent = index(lowest, rank > 4 ? 4 : 9);
    if (rank > 0 && index(0, 2) == 0) shape[static_cast<int>(index(0, rank - 1))] = index(lowest, rank > 4 ? 20 : 90);
    return shape;
  }

  Shape permutation(int rank) {
    Shape axes = Shape::filled(rank, 0);
    for (int i = 0; i < rank; ++i) axes[i] = i;
    std::shuffle(axes.begin(), axes.end(), engine_);
    return axes;
  }

  std::vector<std::byte> bytes(std::size_t n) {
    std::vector<std::byte> out(n);
    for (std::byte& b : out) b = static_cast<std::byte>(index(0, 255));
    return out;
  }

  ElementLayout layout(int rank) {
    ElementLayout layout;
    if (coin()) layout.axes = permutation(rank);
    layout.byte_order = coin() ? ByteOrder::big : ByteOrder::little;
    return layout;
  }

  /// A box around `part`, up to `most` elements larger on each side.
  Box around(const Box& part, Index most) {
    Box box = part;
    for (int axis = 0; axis < part.origin.rank(); ++axis) {
      const Index before = index(0, most);
      box.origin[axis] -= before;
      box.shape[axis] += before + index(0, most);
    }
    return box;
  }

  ElementSize element() {
    constexpr ElementSize kSizes[] = {{1, 1},  {2, 2}, {4, 4}, {8, 8}, {16, 16}, {8, 4}, {16, 8},
                                      {12, 4}, {3, 1}, {6, 3}, {5, 5}, {24, 8},  {4, 1}, {32, 16}};
    return kSizes[index(0, static_cast<Index>(std::size(kSizes)) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

/// Calls `visit(position)` for every element of a box of this shape, in C order; positions begin at 0.
template <typename Visit>
void for_each_position(const Shape& shape, const Visit& visit) {
  if (std::any_of(shape.begin(), shape.end(), [](Index extent) { return extent <= 0; })) return;
  Shape at = Shape::filled(shape.rank(), 0);
  for (;;) {
    visit(at);
    int axis = shape.rank() - 1;
    while (axis >= 0 && ++at[axis] == shape[axis]) at[axis--] = 0;
    if (axis < 0) return;
  }
}

}  // namespace chunkwise::testing
