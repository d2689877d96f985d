#include "grid/cut_grid.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace chunkwise {
namespace {

/// The same as a regular grid of one chunk, of which only the array counts.
ChunkGrid of_one_chunk(const Shape& array) {
  Shape chunk = array;
  for (Index& length : chunk) length = std::max<Index>(length, 1);
  return {array, chunk};
}

/// The interval that holds `at`.
Index interval_of(const std::vector<Index>& cuts, Index at) {
  return static_cast<Index>(std::upper_bound(cuts.begin(), cuts.end(), at) - cuts.begin()) - 1;
}

}  // namespace

CutGrid::CutGrid(const Shape& array, std::vector<std::vector<Index>> cuts)
    : regular_(of_one_chunk(array)), cuts_(std::move(cuts)), n_boxes_(1) {
  CHUNKWISE_CHECK(static_cast<int>(cuts_.size()) == array.rank());
  Shape counts;
  for (int axis = 0; axis < array.rank(); ++axis) {
    const std::vector<Index>& here = cuts_[static_cast<std::size_t>(axis)];
    CHUNKWISE_CHECK(here.empty() == (array[axis] == 0));
    CHUNKWISE_CHECK(here.empty() || (here.front() == 0 && here.back() < array[axis]));
    CHUNKWISE_CHECK(std::adjacent_find(here.begin(), here.end(), std::greater_equal<>()) == here.end());
    counts.push_back(static_cast<Index>(here.size()));
  }
  n_boxes_ = product(counts);
}

Shape CutGrid::coords(ChunkId id) const {
  if (is_regular()) return regular_.coords(id);
  CHUNKWISE_CHECK(linear(id) >= 0 && linear(id) < n_boxes_);
  Shape coords = Shape::filled(array().rank(), 0);
  Index rest = linear(id);
  for (int axis = array().rank() - 1; axis >= 0; --axis) {
    const auto count = static_cast<Index>(cuts_[static_cast<std::size_t>(axis)].size());
    coords[axis] = rest % count;
    rest /= count;
  }
  return coords;
}

ChunkId CutGrid::id(const Shape& coords) const {
  if (is_regular()) return regular_.id(coords);
  Index number = 0;
  for (int axis = 0; axis < array().rank(); ++axis) {
    const auto count = static_cast<Index>(cuts_[static_cast<std::size_t>(axis)].size());
    CHUNKWISE_CHECK(coords[axis] >= 0 && coords[axis] < count);
    number = number * count + coords[axis];
  }
  return ChunkId{number};
}

Box CutGrid::box(ChunkId id) const {
  if (is_regular()) return regular_.box(id);
  Box box{coords(id), Shape::filled(array().rank(), 0)};
  for (int axis = 0; axis < array().rank(); ++axis) {
    const std::vector<Index>& cuts = cuts_[static_cast<std::size_t>(axis)];
    const auto i = static_cast<std::size_t>(box.origin[axis]);
    box.origin[axis] = cuts[i];
    box.shape[axis] = (i + 1 < cuts.size() ? cuts[i + 1] : array()[axis]) - cuts[i];
  }
  return box;
}

Box CutGrid::boxes_of(const Box& box) const {
  if (is_regular()) return regular_.chunks_of(box);
  const int rank = array().rank();
  const Box inside = intersect(box, whole(array()));
  Box boxes{Shape::filled(rank, 0), Shape::filled(rank, 0)};
  if (inside.empty()) return boxes;
  for (int axis = 0; axis < rank; ++axis) {
    const std::vector<Index>& cuts = cuts_[static_cast<std::size_t>(axis)];
    boxes.origin[axis] = interval_of(cuts, inside.origin[axis]);
    boxes.shape[axis] = interval_of(cuts, inside.origin[axis] + inside.shape[axis] - 1) - boxes.origin[axis] + 1;
  }
  return boxes;
}

std::vector<ChunkId> CutGrid::overlapping(const Box& box) const {
  if (is_regular()) return regular_.overlapping(box);
  const Box boxes = boxes_of(box);
  if (boxes.empty()) return {};
  std::vector<ChunkId> ids;
  ids.reserve(static_cast<std::size_t>(product(boxes.shape)));
  Shape at = boxes.origin;
  for (;;) {
    ids.push_back(id(at));
    int axis = at.rank() - 1;
    while (axis >= 0 && ++at[axis] == boxes.origin[axis] + boxes.shape[axis]) {
      at[axis] = boxes.origin[axis];
      --axis;
    }
    if (axis < 0) return ids;
  }
}

std::vector<Index> cuts_of_both(Index extent, Index a, Index b) {
  std::vector<Index> cuts;
  for (Index next_a = 0, next_b = 0; std::min(next_a, next_b) < extent;) {
    const Index at = std::min(next_a, next_b);
    cuts.push_back(at);
    if (next_a == at) next_a = a < extent - at ? at + a : extent;
    if (next_b == at) next_b = b < extent - at ? at + b : extent;
  }
  return cuts;
}

std::vector<Index> cut_further(const std::vector<Index>& cuts, Index extent, Index most) {
  std::vector<Index> finer;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const Index end = i + 1 < cuts.size() ? cuts[i + 1] : extent;
    for (Index at = cuts[i]; at < end; at += most) finer.push_back(at);
  }
  return finer;
}

Index longest(const std::vector<Index>& cuts, Index extent) {
  Index most = 0;
  for (std::size_t i = 0; i < cuts.size(); ++i)
    most = std::max(most, (i + 1 < cuts.size() ? cuts[i + 1] : extent) - cuts[i]);
  return most;
}

}  // namespace chunkwise
