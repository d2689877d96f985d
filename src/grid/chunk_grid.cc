#include "grid/chunk_grid.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {

ChunkGrid::ChunkGrid(const Shape& array, const Shape& chunk)
    : array_(array), chunk_(chunk), counts_(Shape::filled(array.rank(), 0)) {
  if (array.rank() != chunk.rank()) {
    throw Error(Code::corrupt, fmt::format("chunks have {} axes, but their array has {}", chunk.rank(), array.rank()));
  }
  for (int axis = 0; axis < array.rank(); ++axis) {
    if (array[axis] < 0) throw Error(Code::corrupt, fmt::format("axis {} has length {}", axis, array[axis]));
    if (chunk[axis] < 1) throw Error(Code::corrupt, fmt::format("chunks have length {} on axis {}", chunk[axis], axis));
    counts_[axis] = ceil_div(array[axis], chunk[axis]);
    // Positions inside an overhanging chunk must not wrap either.
    if (!checked_mul(counts_[axis], chunk[axis])) {
      throw Error(Code::corrupt, fmt::format("axis {} of length {} is too long for chunks of length {}", axis,
                                             array[axis], chunk[axis]));
    }
  }
  const auto n_chunks = checked_product(counts_);
  if (!n_chunks) {
    throw Error(Code::corrupt, fmt::format("an array of {} in chunks of {} has more chunks than can be counted",
                                           to_string(array), to_string(chunk)));
  }
  n_chunks_ = *n_chunks;
}

Shape ChunkGrid::coords(ChunkId id) const {
  CHUNKWISE_CHECK(linear(id) >= 0 && linear(id) < n_chunks_);
  Shape coords = Shape::filled(array_.rank(), 0);
  Index rest = linear(id);
  for (int axis = array_.rank() - 1; axis >= 0; --axis) {
    coords[axis] = rest % counts_[axis];
    rest /= counts_[axis];
  }
  return coords;
}

ChunkId ChunkGrid::id(const Shape& coords) const {
  CHUNKWISE_CHECK(coords.rank() == array_.rank());
  Index number = 0;
  for (int axis = 0; axis < array_.rank(); ++axis) {
    CHUNKWISE_CHECK(coords[axis] >= 0 && coords[axis] < counts_[axis]);
    number = number * counts_[axis] + coords[axis];
  }
  return ChunkId{number};
}

Box ChunkGrid::full_box(ChunkId id) const {
  Box box{coords(id), chunk_};
  for (int axis = 0; axis < array_.rank(); ++axis) box.origin[axis] *= chunk_[axis];
  return box;
}

Box ChunkGrid::box(ChunkId id) const {
  Box box = full_box(id);
  for (int axis = 0; axis < array_.rank(); ++axis) {
    box.shape[axis] = std::min(chunk_[axis], array_[axis] - box.origin[axis]);
  }
  return box;
}

bool ChunkGrid::overhangs(ChunkId id) const {
  return !(box(id).shape == chunk_);
}

Box ChunkGrid::chunks_of(const Box& box) const {
  const Box inside = intersect(box, whole(array_));
  Box chunks{Shape::filled(array_.rank(), 0), Shape::filled(array_.rank(), 0)};
  if (inside.empty()) return chunks;
  for (int axis = 0; axis < array_.rank(); ++axis) {
    const Index first = inside.origin[axis] / chunk_[axis];
    const Index last = (inside.origin[axis] + inside.shape[axis] - 1) / chunk_[axis];
    chunks.origin[axis] = first;
    chunks.shape[axis] = last - first + 1;
  }
  return chunks;
}

std::vector<ChunkId> ChunkGrid::overlapping(const Box& box) const {
  // Rank 0: the box has no axis that could be empty, so its one chunk is found.
  const Box chunks = chunks_of(box);
  if (chunks.empty()) return {};
  std::vector<ChunkId> ids;
  ids.reserve(static_cast<std::size_t>(product(chunks.shape)));
  Shape at = chunks.origin;
  for (;;) {
    ids.push_back(id(at));
    int axis = array_.rank() - 1;
    while (axis >= 0 && ++at[axis] == chunks.origin[axis] + chunks.shape[axis]) {
      at[axis] = chunks.origin[axis];
      --axis;
    }
    if (axis < 0) return ids;
  }
}

}  // namespace chunkwise
