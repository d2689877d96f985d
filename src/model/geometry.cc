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

AxisTouch touch_axis(Index length, Index chunk, Index extent) {
  CHUNKWISE_CHECK(chunk >= 1 && extent >= 1 && extent <= length);
  const Index places = length - extent + 1;
  const Index all = ceil_div(length, chunk);
  AxisTouch touch;
  touch.all_chunks = static_cast<double>(all);

  // n(o) = floor((o+A-1)/c) - floor(o/c) + 1, summed over o = 0 .. places-1.
  const Wide sum =
      sum_of_floors(length, chunk) - sum_of_floors(extent - 1, chunk) - sum_of_floors(places, chunk) + places;
  const auto n_places = static_cast<double>(places);
  touch.chunks = static_cast<double>(sum) / n_places;

  // The last chunk is touched from o = reach on; the first one up to o = chunk - 1.
  const Index reach = std::max<Index>(0, (all - 1) * chunk - extent + 1);
  const Index n_last = places - reach;
  const Index n_all = std::max<Index>(0, std::min(chunk - 1, places - 1) - reach + 1);
  touch.p_all = static_cast<double>(n_all) / n_places;
  const Index n_some = places - n_all;
  if (n_some > 0) {
    touch.chunks_if_some = static_cast<double>(sum - Wide{all} * n_all) / static_cast<double>(n_some);
  }
  const Wide overhang = Wide{all} * chunk - length;
  touch.elements = static_cast<double>(sum * chunk - overhang * n_last) / n_places;
  return touch;
}

double expected_runs(std::span<const AxisTouch> axes) {
  double runs = 1;
  visit_gaps(axes, [&](double count, double) { runs += count; });
  return runs;
}

}  // namespace chunkwise
