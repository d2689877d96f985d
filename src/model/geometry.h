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

/// One axis of a read of elements `step` apart. Expectations are closed forms over exact integers.
struct AxisTouch {
  double chunks = 0;          // E[n], n = chunks touched along the axis
  double p_all = 0;           // P(n == all)
  double chunks_if_some = 0;  // E[n | n < all]; 0 if that cannot happen
  double elements = 0;        // E[elements of those chunks, clipped at the end]
  double all_chunks = 0;      // chunks along the axis
  double span = 0;            // E[chunks from the first touched to the last]
  double pieces = 1;          // E[runs of touched chunks]; above 1 where steps jump over chunks
  double p_ends = 0;          // P(the first and the last chunk are touched)
  double wanted = 0;          // elements of the read
  double whole = 0;           // E[chunks of which every element, up to the full length, is wanted]
  double step = 1;            // from one wanted element to the next
  double length = 0;          // of the array
  double chunk = 1;           // length of a chunk
};
/// `count` elements at a uniformly random place among all where they fit.
AxisTouch touch_axis(Index length, Index chunk, Index count, Index step = 1);
/// The same from element `start` on: every number is exact.
AxisTouch touch_axis_at(Index length, Index chunk, Index start, Index count, Index step = 1);

/// E[runs] of the product of axes (offsets independent).
double expected_runs(std::span<const AxisTouch> axes);

/// Calls visit(count, gap_units) for the expected number of jumps from one run to the next, and how many units (chunks;
/// elements of a contiguous array) lie between them. Counts add up to expected_runs() - 1. Where steps jump over
/// chunks, the last chunk of one row and the first of the next may both be touched: no jump.
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
      // Steps jump over chunks only where no place touches them all, so these need no condition.
      const bool jumps = at(broken).pieces > 1;
      // Units from the first touched to the last, inside axis i.
      double covered = (jumps ? at(broken).span : at(broken).chunks_if_some) * stride;
      double stride_i = stride * at(broken).all_chunks;
      double outer = p;
      for (int i = 0; i < broken; ++i) outer *= at(i).chunks;
      if (jumps) {
        const double n_jumps = at(broken).pieces - 1;
        visit(outer * n_jumps, (at(broken).span - at(broken).chunks) * stride / n_jumps);
      }
      double p_ends = jumps ? at(broken).p_ends : 0;  // of all axes from i + 1 to the broken one
      for (int i = broken - 1; i >= 0 && outer > 0; --i) {
        outer /= at(i).chunks;
        const double n_steps = at(i).chunks - 1;
        const double n_jumps = n_steps - p_ends * (at(i).chunks - at(i).pieces);
        if (n_jumps > 1e-12) visit(outer * n_jumps, (stride_i * (at(i).span - 1) - n_steps * covered) / n_jumps);
        covered += (at(i).span - 1) * stride_i;
        p_ends *= at(i).p_ends;
        stride_i *= at(i).all_chunks;
      }
    }
    p_all_behind *= at(broken).p_all;
    stride *= at(broken).all_chunks;
  }
}

}  // namespace chunkwise
