#include "array/linear.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

constexpr Index kRunBytes = Index{1} << 20;

}  // namespace

LinearRange linear_range(const ChunkGrid& grid, ChunkId id, std::size_t element_bytes) {
  const Box box = grid.box(id);
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  for (int axis = 0; axis < box.shape.rank(); ++axis) {
    first = first * static_cast<std::uint64_t>(grid.array()[axis]) + static_cast<std::uint64_t>(box.origin[axis]);
    count *= static_cast<std::uint64_t>(box.shape[axis]);
  }
  return {first * element_bytes, count * element_bytes};
}

std::uint64_t linear_bytes(const ArrayMeta& meta) {
  const auto elements = checked_product(meta.shape);
  const auto bytes = elements ? checked_mul(*elements, static_cast<Index>(meta.dtype.bytes)) : std::nullopt;
  if (!bytes) throw Error(Code::corrupt, fmt::format("{} has more than 2^63 bytes", meta.path));
  return static_cast<std::uint64_t>(*bytes);
}

void check_linear(const ArrayMeta& meta) {
  CHUNKWISE_CHECK(meta.codecs.empty() && !meta.pads_edges && meta.chunk.rank() == meta.shape.rank());
  int axis = 0;
  while (axis < meta.shape.rank() && meta.chunk[axis] == 1) ++axis;
  for (++axis; axis < meta.shape.rank(); ++axis) CHUNKWISE_CHECK(meta.chunk[axis] >= meta.shape[axis]);
}

Shape linear_chunk(const Shape& shape, std::size_t element_bytes) {
  Shape chunk = Shape::filled(shape.rank(), 1);
  Index run_bytes = std::max<Index>(1, static_cast<Index>(element_bytes));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const Index length = std::max<Index>(1, shape[axis]);
    const Index fits = std::max<Index>(1, kRunBytes / run_bytes);
    if (length > fits) {
      chunk[axis] = fits;
      break;
    }
    chunk[axis] = length;
    run_bytes *= length;
  }
  return chunk;
}

}  // namespace chunkwise
