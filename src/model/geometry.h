// Which chunks an access touches, and how they lie on disk. Pure functions of integers, thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "grid/box.h"

namespace chunkwise {

/// What one read at a fixed place touches. Exact.
struct Touch {
  std::uint64_t chunks = 0;
  /// Bytes of those chunks before encoding: full ones, or clipped at the array's end.
  std::uint64_t bytes = 0;
  /// Runs of chunks that follow each other in row-major order: the requests left after merging neighbours.
  std::uint64_t runs = 0;
};

/// `box` is not empty and lies inside `array`; chunk lengths >= 1.
/// Throws Error{unsupported} if a number passes 64 bits, Error{internal} if `box` is outside.
Touch touch_at(const Shape& array, const Shape& chunk, std::size_t element_bytes, bool pads_edges, const Box& box);

/// One axis of a read of `extent` elements, its offset uniform over all `length - extent + 1` places. Expectations are
/// closed forms over exact integers.
struct AxisTouch {
  double chunks = 0;          // E[n], n = chunks touched along the axis
  double p_all = 0;           // P(n == all)
  double chunks_if_some = 0;  // E[n | n < all]; 0 if that cannot happen
  double elements = 0;        // E[elements of those chunks, clipped at the end]
  double all_chunks = 0;      // chunks along the axis
};
AxisTouch touch_axis(Index length, Index chunk, Index extent);

/// E[runs] of the product of axes (offsets independent).
double expected_runs(std::span<const AxisTouch> axes);

/// Calls visit(count, gap_units) for the expected number of jumps from one run to the next, and how many units (chunks;
/// elements of a contiguous array) lie between them. Counts add up to expected_runs() - 1.
template <class Visit>
void visit_gaps(std::span<const AxisTouch> axes, Visit&& visit) {
  const auto rank = static_cast<int>(axes.size());
  const auto at = [&](int axis) -> const AxisTouch& { return axes[static_cast<std::size_t>(axis)]; };
  // Runs extend over every axis behind `broken`, the last axis that is not touched as a whole.
  double p_all_behind = 1;
  double stride = 1;  // units of one step along `broken`
  for (int broken = rank - 1; broken >= 0 && p_all_behind > 0; --broken) {
    const double p = p_all_behind * (1 - at(broken).p_all);
    if (p > 0) {
      double covered = at(broken).chunks_if_some * stride;  // units from the first touched to the last, inside axis i
      double stride_i = stride * at(broken).all_chunks;
      double outer = p;
      for (int i = 0; i < broken; ++i) outer *= at(i).chunks;
      for (int i = broken - 1; i >= 0 && outer > 0; --i) {
        outer /= at(i).chunks;
        const double count = outer * (at(i).chunks - 1);
        if (count > 0) visit(count, stride_i - covered);
        covered += (at(i).chunks - 1) * stride_i;
        stride_i *= at(i).all_chunks;
      }
    }
    p_all_behind *= at(broken).p_all;
    stride *= at(broken).all_chunks;
  }
}

}  // namespace chunkwise
