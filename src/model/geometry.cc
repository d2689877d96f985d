#include "model/geometry.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

__extension__ typedef __int128 Wide;  // sums of n * S stay exact for any S below 2^63

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  const auto product = checked_mul(a, b);
  if (!product) throw Error(Code::unsupported, "the array is too large to count its bytes in 64 bits");
  return *product;
}

std::uint64_t u64(Index value) {
  return static_cast<std::uint64_t>(value);
}

/// floor(0/c) + floor(1/c) + ... + floor((count-1)/c)
Wide sum_of_floors(Index count, Index c) {
  if (count <= 0) return 0;
  const Wide q = count / c;
  const Wide r = count % c;
  return q * (q - 1) / 2 * c + r * q;
}

/// What does not depend on the place.
AxisTouch axis_of(Index length, Index chunk, Index count, Index step) {
  AxisTouch touch;
  touch.wanted = static_cast<double>(count);
  touch.step = static_cast<double>(step);
  touch.length = static_cast<double>(length);
  touch.chunk = static_cast<double>(chunk);
  touch.all_chunks = static_cast<double>(ceil_div(length, chunk));
  return touch;
}

}  // namespace

Touch touch_at(const Shape& array, const Shape& chunk, std::size_t element_bytes, bool pads_edges, const Box& box) {
  CHUNKWISE_CHECK(array.rank() == chunk.rank() && array.rank() == box.shape.rank());
  Touch touch{1, element_bytes, 1};
  for (int axis = 0; axis < array.rank(); ++axis) {
    const Index begin = box.origin[axis];
    CHUNKWISE_CHECK(begin >= 0 && box.shape[axis] >= 1 && box.shape[axis] <= array[axis] - begin && chunk[axis] >= 1);
    const Index first = begin / chunk[axis];
    const Index last = (begin + box.shape[axis] - 1) / chunk[axis];
    const Index n = last - first + 1;
    // first + 1 <= extent / chunk + 1, so only the overhang of the last chunk can pass 64 bits.
    const Index clipped_end = last == (array[axis] - 1) / chunk[axis] ? array[axis] : (last + 1) * chunk[axis];
    // A run extends over all axes behind the last one that is not touched as a whole.
    if (n < ceil_div(array[axis], chunk[axis])) touch.runs = touch.chunks;
    touch.chunks = times(touch.chunks, u64(n));
    touch.bytes =
        times(touch.bytes, pads_edges ? times(u64(n), u64(chunk[axis])) : u64(clipped_end - first * chunk[axis]));
  }
  return touch;
}

AxisTouch touch_axis(Index length, Index chunk, Index count, Index step) {
  CHUNKWISE_CHECK(chunk >= 1 && count >= 1 && step >= 1 && (count == 1 || (length - 1) / (count - 1) >= step));
  CHUNKWISE_CHECK(count <= length);
  const Index extent = (count - 1) * step + 1;
  const Index places = length - extent + 1;
  const Index all = ceil_div(length, chunk);
  AxisTouch touch = axis_of(length, chunk, count, step);

  // The last chunk is touched from o = reach on; the first one up to o = chunk - 1.
  const Index reach = std::max<Index>(0, (all - 1) * chunk - extent + 1);
  const auto n_places = static_cast<double>(places);
  if (chunk == 1) {
    touch.whole = static_cast<double>(count);
  } else if (step == 1 && count >= chunk) {
    // floor((o+A)/c) - ceil(o/c), summed over o = 0 .. places-1.
    const Wide sum_whole = sum_of_floors(count + places, chunk) - sum_of_floors(count, chunk) -
                           sum_of_floors(places + chunk - 1, chunk) + sum_of_floors(chunk - 1, chunk);
    touch.whole = static_cast<double>(sum_whole) / n_places;
  }
  // From the first chunk touched to the last, floor((o+A-1)/c) - floor(o/c) + 1, summed over o = 0 .. places-1.
  const Wide sum_span =
      sum_of_floors(length, chunk) - sum_of_floors(extent - 1, chunk) - sum_of_floors(places, chunk) + places;
  touch.span = static_cast<double>(sum_span) / n_places;
  // Steps above a chunk's length put each element into a chunk of its own.
  const bool skips = step > chunk;
  const Wide sum = skips ? Wide{count} * places : sum_span;
  touch.chunks = static_cast<double>(sum) / n_places;
  Index n_all = std::max<Index>(0, std::min(chunk - 1, places - 1) - reach + 1);
  touch.p_ends = static_cast<double>(n_all) / n_places;
  if (skips) n_all = count == all ? places : 0;
  touch.p_all = static_cast<double>(n_all) / n_places;
  const Index n_some = places - n_all;
  if (n_some > 0) {
    touch.chunks_if_some = static_cast<double>(sum - Wide{all} * n_all) / static_cast<double>(n_some);
  }
  const Wide overhang = Wide{all} * chunk - length;
  touch.elements = static_cast<double>(sum * chunk - overhang * (places - reach)) / n_places;
  // A step of c to 2c goes one chunk on or two, and every two begins a new piece.
  if (skips) {
    touch.pieces =
        step / 2 >= chunk ? static_cast<double>(count) : static_cast<double>(sum_span - sum + places) / n_places;
  }
  return touch;
}

AxisTouch touch_axis_at(Index length, Index chunk, Index start, Index count, Index step) {
  CHUNKWISE_CHECK(chunk >= 1 && count >= 1 && step >= 1 && start >= 0 && start < length);
  CHUNKWISE_CHECK(count == 1 || (length - 1 - start) / (count - 1) >= step);
  const Index last_element = start + (count - 1) * step;
  const Index first = start / chunk;
  const Index last = last_element / chunk;
  const Index all = ceil_div(length, chunk);
  const Index span = last - first + 1;
  const Index n = step > chunk ? count : span;
  AxisTouch touch = axis_of(length, chunk, count, step);
  touch.span = static_cast<double>(span);
  touch.chunks = static_cast<double>(n);
  touch.p_all = n == all ? 1 : 0;
  touch.p_ends = span == all ? 1 : 0;
  touch.chunks_if_some = n == all ? 0 : static_cast<double>(n);
  const Wide overhang = last == all - 1 ? Wide{all} * chunk - length : 0;
  touch.elements = static_cast<double>(Wide{n} * chunk - overhang);
  if (chunk == 1) {
    touch.whole = static_cast<double>(count);
  } else if (step == 1) {
    touch.whole = static_cast<double>(std::max<Index>(0, (start + count) / chunk - ceil_div(start, chunk)));
  }
  if (step > chunk) touch.pieces = static_cast<double>(step / 2 >= chunk ? count : span - count + 1);
  return touch;
}

double expected_runs(std::span<const AxisTouch> axes) {
  double runs = 1;
  visit_gaps(axes, [&](double count, double) { runs += count; });
  return runs;
}

}  // namespace chunkwise
