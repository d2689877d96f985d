// Copies, fills and comparisons of dense buffers.
#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "grid/strided_copy.h"

namespace chunkwise {
namespace {

// The axis at place `i` of the order, slowest first.
int axis_at(const Shape& axes, int i) {
  return axes.rank() == 0 ? i : static_cast<int>(axes[i]);
}

bool is_permutation(const Shape& axes, int rank) {
  if (axes.rank() == 0) return true;
  if (axes.rank() != rank) return false;
  std::uint64_t seen = 0;
  for (const Index axis : axes) {
    if (axis < 0 || axis >= rank) return false;
    seen |= std::uint64_t{1} << axis;
  }
  return seen == (std::uint64_t{1} << rank) - 1;
}

Index offset_bytes(const Shape& origin, const Shape& box_origin, const Shape& strides) {
  Index offset = 0;
  for (int axis = 0; axis < origin.rank(); ++axis) offset += (origin[axis] - box_origin[axis]) * strides[axis];
  return offset;
}

}  // namespace

Shape dense_strides_bytes(const Shape& shape, const Shape& axes, std::size_t element_bytes) {
  CHUNKWISE_CHECK(is_permutation(axes, shape.rank()));
  Shape strides = shape;
  // Unsigned, because the strides of an empty shape may wrap; nobody goes by them.
  std::uint64_t stride = element_bytes;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int axis = axis_at(axes, i);
    strides[axis] = static_cast<Index>(stride);
    stride *= static_cast<std::uint64_t>(shape[axis]);
  }
  return strides;
}

void copy_box(const BoxCopy& copy, const std::byte* src, std::byte* dst) {
  if (copy.part.empty()) return;
  CHUNKWISE_CHECK(contains(copy.src_box, copy.part) && contains(copy.dst_box, copy.part));
  StridedCopy strided;
  strided.shape = copy.part.shape;
  strided.src_stride_bytes = dense_strides_bytes(copy.src_box.shape, copy.src_layout.axes, copy.element.bytes);
  strided.dst_stride_bytes = dense_strides_bytes(copy.dst_box.shape, copy.dst_layout.axes, copy.element.bytes);
  strided.element = copy.element;
  strided.swap = copy.src_layout.byte_order != copy.dst_layout.byte_order;
  copy_strided(strided, src + offset_bytes(copy.part.origin, copy.src_box.origin, strided.src_stride_bytes),
               dst + offset_bytes(copy.part.origin, copy.dst_box.origin, strided.dst_stride_bytes));
}

void fill_elements(MutableByteView out, ByteView element) {
  if (out.empty()) return;
  const bool one_byte = std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == element[0]; });
  if (one_byte) {
    std::memset(out.data(), element.empty() ? 0 : std::to_integer<int>(element[0]), out.size());
    return;
  }
  CHUNKWISE_CHECK(out.size() % element.size() == 0);
  std::memcpy(out.data(), element.data(), element.size());
  // What is filled already is the source for the rest, up to a length that stays in the cache.
  constexpr std::size_t kMaxCopyBytes = 4096;
  std::size_t done = element.size();
  while (done < out.size()) {
    const std::size_t most = std::max(element.size(), kMaxCopyBytes / element.size() * element.size());
    const std::size_t n = std::min({done, most, out.size() - done});
    std::memcpy(out.data() + done, out.data(), n);
    done += n;
  }
}

void fill_outside(const Box& box, const Box& inner, const ElementLayout& layout, ByteView element, std::byte* out) {
  CHUNKWISE_CHECK(!element.empty());
  if (box.empty()) return;
  const int rank = box.origin.rank();
  const Box keep = intersect(box, inner);
  const Shape strides = dense_strides_bytes(box.shape, layout.axes, element.size());
  const auto fill = [&](Index first_byte, Index n_bytes) {
    fill_elements({out + first_byte, static_cast<std::size_t>(n_bytes)}, element);
  };
  if (keep.empty()) {
    fill(0, product(box.shape) * static_cast<Index>(element.size()));
    return;
  }
  // For each axis, slowest first: at every kept position of the slower axes, what lies before and behind the kept
  // stretch of this one is a run of bytes, since the faster axes are whole there.
  for (int place = 0; place < rank; ++place) {
    const int axis = axis_at(layout.axes, place);
    const Index before = keep.origin[axis] - box.origin[axis];
    const Index behind = box.shape[axis] - before - keep.shape[axis];
    if (before == 0 && behind == 0) continue;
    Shape at = Shape::filled(rank, 0);
    for (;;) {
      Index start = 0;
      for (int i = 0; i < place; ++i) {
        const int slower = axis_at(layout.axes, i);
        start += (keep.origin[slower] - box.origin[slower] + at[slower]) * strides[slower];
      }
      fill(start, before * strides[axis]);
      fill(start + (before + keep.shape[axis]) * strides[axis], behind * strides[axis]);
      int i = place - 1;
      for (; i >= 0; --i) {
        const int slower = axis_at(layout.axes, i);
        if (++at[slower] < keep.shape[slower]) break;
        at[slower] = 0;
      }
      if (i < 0) break;
    }
  }
}

bool all_equal(ByteView data, ByteView element) {
  if (data.empty()) return true;
  const std::byte zero{};
  if (element.empty()) element = {&zero, 1};
  CHUNKWISE_CHECK(data.size() % element.size() == 0);
  if (std::memcmp(data.data(), element.data(), element.size()) != 0) return false;
  // Each element equals its neighbour.
  return std::memcmp(data.data(), data.data() + element.size(), data.size() - element.size()) == 0;
}

}  // namespace chunkwise
