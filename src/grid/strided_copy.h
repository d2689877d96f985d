// One strided copy for everything: gather, scatter, transpose and byte swap in one pass.
#pragma once

#include <bit>
#include <cstddef>

#include "base/bytes.h"
#include "grid/box.h"
#include "grid/shape.h"

namespace chunkwise {

enum class ByteOrder { little, big };
inline constexpr ByteOrder kNativeOrder =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

/// How the elements of a box lie in its buffer, dense.
struct ElementLayout {
  /// Axis that varies slowest first; empty means 0, 1, 2, ... (C order). Zarr v2 order F is rank-1, ..., 1, 0.
  Shape axes;
  ByteOrder byte_order = ByteOrder::little;

  friend bool operator==(const ElementLayout&, const ElementLayout&) = default;
};

/// Size of an element and of the words in it whose bytes swap together (complex128: 16 and 8).
struct ElementSize {
  std::size_t bytes = 1;
  std::size_t word_bytes = 1;
};

/// Byte distance between neighbours on each axis, for a dense buffer of `shape` in `axes` order.
Shape dense_strides_bytes(const Shape& shape, const Shape& axes, std::size_t element_bytes);

/// Copies `shape` elements between two strided places that do not overlap. Strides in bytes, any sign and order.
/// `swap` reverses the bytes of each word. Thread-safe; no allocation. Ranks up to kMaxRank.
struct StridedCopy {
  Shape shape;
  Shape src_stride_bytes;
  Shape dst_stride_bytes;
  ElementSize element;
  bool swap = false;
};
void copy_strided(const StridedCopy& copy, const std::byte* src, std::byte* dst);

/// Copies the elements of `part` (inside both boxes) from a dense buffer over `src_box` to a dense one over `dst_box`.
struct BoxCopy {
  Box src_box;
  ElementLayout src_layout;
  Box dst_box;
  ElementLayout dst_layout;
  Box part;
  ElementSize element;
};
void copy_box(const BoxCopy& copy, const std::byte* src, std::byte* dst);

/// Repeats `element` over `out`; an empty element means zero bytes. out.size() is a multiple of element.size().
void fill_elements(MutableByteView out, ByteView element);

/// Sets the part of a dense buffer over `box` that lies outside `inner` to `element` (edge padding of chunks).
/// Here `element` must not be empty: it tells how large elements are.
void fill_outside(const Box& box, const Box& inner, const ElementLayout& layout, ByteView element, std::byte* out);

/// True if all of `data` repeats `element`, bit for bit; an empty element means zero bytes.
bool all_equal(ByteView data, ByteView element);

}  // namespace chunkwise
