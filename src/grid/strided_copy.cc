// A copy is first brought to its simplest form (few axes, positive destination strides, widest unit), then its two
// innermost axes go to one kernel and the others to a counter.
#include "grid/strided_copy.h"

#include <array>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "grid/strided_kernels.h"

namespace chunkwise {
namespace {

struct Axis {
  Index length = 1;
  Index src_bytes = 0;  // strides
  Index dst_bytes = 0;
};

// The axes of a copy, slowest in the destination first. One more than kMaxRank: words within an element.
class Axes {
 public:
  int size() const { return size_; }
  Axis& operator[](int i) { return axes_[static_cast<std::size_t>(i)]; }
  const Axis& operator[](int i) const { return axes_[static_cast<std::size_t>(i)]; }
  const Axis& back() const { return axes_[static_cast<std::size_t>(size_ - 1)]; }
  void pop_back() { --size_; }

  void insert_sorted(const Axis& axis) {
    int at = size_++;
    for (; at > 0 && goes_before(axis, (*this)[at - 1]); --at) (*this)[at] = (*this)[at - 1];
    (*this)[at] = axis;
  }

  // Joins neighbours that are one run in both places.
  void merge() {
    int kept = 0;
    for (int i = 1; i < size_; ++i) {
      Axis& outer = (*this)[kept];
      const Axis& inner = (*this)[i];
      if (outer.src_bytes == inner.src_bytes * inner.length && outer.dst_bytes == inner.dst_bytes * inner.length) {
        outer = {outer.length * inner.length, inner.src_bytes, inner.dst_bytes};
      } else {
        (*this)[++kept] = inner;
      }
    }
    if (size_ > 0) size_ = kept + 1;
  }

 private:
  static bool goes_before(const Axis& a, const Axis& b) {
    if (a.dst_bytes != b.dst_bytes) return a.dst_bytes > b.dst_bytes;
    return std::abs(a.src_bytes) > std::abs(b.src_bytes);
  }

  std::array<Axis, kMaxRank + 1> axes_;
  int size_ = 0;
};

// Kernels take the two innermost axes as they are ordered in the destination. Where the source has its shortest stride
// on an axis farther out, that one must be in the plane too: the copy is a transpose.
void pull_in_source_axis(Axes& axes) {
  const int last = axes.size() - 1;
  int nearest = last;
  for (int i = last - 1; i >= 0; --i) {
    if (std::abs(axes[i].src_bytes) < std::abs(axes[nearest].src_bytes)) nearest = i;
  }
  if (nearest == last) return;
  const Axis axis = axes[nearest];
  for (int i = nearest; i < last - 1; ++i) axes[i] = axes[i + 1];
  axes[last - 1] = axis;
}

void run(const Axes& axes, std::size_t unit_bytes, bool swap, const std::byte* src, std::byte* dst) {
  strided::Plane plane;
  plane.unit_bytes = unit_bytes;
  plane.src_inner = plane.dst_inner = static_cast<Index>(unit_bytes);
  const int n = axes.size();
  if (n >= 1) {
    plane.n_inner = axes[n - 1].length;
    plane.src_inner = axes[n - 1].src_bytes;
    plane.dst_inner = axes[n - 1].dst_bytes;
  }
  if (n >= 2) {
    plane.n_outer = axes[n - 2].length;
    plane.src_outer = axes[n - 2].src_bytes;
    plane.dst_outer = axes[n - 2].dst_bytes;
  }
  const strided::Kernel kernel = strided::choose_kernel(plane, swap);
  const int n_counted = std::max(0, n - 2);
  std::array<Index, kMaxRank + 1> at{};
  for (;;) {
    kernel(plane, src, dst);
    int i = n_counted - 1;
    for (; i >= 0; --i) {
      Index& position = at[static_cast<std::size_t>(i)];
      src += axes[i].src_bytes;
      dst += axes[i].dst_bytes;
      if (++position < axes[i].length) break;
      src -= axes[i].src_bytes * axes[i].length;
      dst -= axes[i].dst_bytes * axes[i].length;
      position = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace

void copy_strided(const StridedCopy& copy, const std::byte* src, std::byte* dst) {
  const int rank = copy.shape.rank();
  CHUNKWISE_CHECK(copy.src_stride_bytes.rank() == rank && copy.dst_stride_bytes.rank() == rank);
  CHUNKWISE_CHECK(copy.element.bytes > 0 && copy.element.word_bytes > 0);
  CHUNKWISE_CHECK(copy.element.bytes % copy.element.word_bytes == 0);

  const bool swap = copy.swap && copy.element.word_bytes > 1;
  Axes axes;
  for (int i = 0; i < rank; ++i) {
    Axis axis{copy.shape[i], copy.src_stride_bytes[i], copy.dst_stride_bytes[i]};
    if (axis.length <= 0) return;
    if (axis.length == 1) continue;
    if (axis.dst_bytes < 0) {
      // From the other end, so that neighbours can merge whichever way they were given.
      src += (axis.length - 1) * axis.src_bytes;
      dst += (axis.length - 1) * axis.dst_bytes;
      axis.src_bytes = -axis.src_bytes;
      axis.dst_bytes = -axis.dst_bytes;
    }
    axes.insert_sorted(axis);
  }

  // Bytes that stay together, or swap together, are the unit; the units of an element are one more axis.
  std::size_t unit_bytes = swap ? copy.element.word_bytes : copy.element.bytes;
  if (!swap && !strided::is_fixed_unit(unit_bytes)) unit_bytes = 1;
  if (unit_bytes != copy.element.bytes) {
    const auto stride = static_cast<Index>(unit_bytes);
    axes.insert_sorted({static_cast<Index>(copy.element.bytes / unit_bytes), stride, stride});
  }
  axes.merge();

  // A short run may itself be a unit: a pair of f4 moves like one f8.
  while (!swap && axes.size() > 1) {
    const Axis& inner = axes.back();
    const auto unit = static_cast<Index>(unit_bytes);
    if (inner.src_bytes != unit || inner.dst_bytes != unit || inner.length > 16) break;
    const std::size_t run_bytes = static_cast<std::size_t>(inner.length) * unit_bytes;
    if (!strided::is_fixed_unit(run_bytes)) break;
    unit_bytes = run_bytes;
    axes.pop_back();
  }
  pull_in_source_axis(axes);
  run(axes, unit_bytes, swap, src, dst);
}

}  // namespace chunkwise
