// A grid whose boxes need not be of one size.
#pragma once

#include <vector>

#include "grid/chunk_grid.h"

namespace chunkwise {

/// An array cut by planes: at every multiple of a chunk's lengths (a ChunkGrid), or wherever a list says. Numbered as a
/// ChunkGrid, row-major. Immutable, thread-safe.
class CutGrid {
 public:
  CutGrid() = default;
  CutGrid(const ChunkGrid& regular) : regular_(regular) {}
  /// cuts[axis]: where boxes begin, rising from 0; none on an axis without elements. Throws Error{internal} for others.
  CutGrid(const Shape& array, std::vector<std::vector<Index>> cuts);

  const Shape& array() const { return regular_.array(); }
  bool is_regular() const { return cuts_.empty(); }
  Index n_boxes() const { return cuts_.empty() ? regular_.n_chunks() : n_boxes_; }

  Shape coords(ChunkId id) const;
  ChunkId id(const Shape& coords) const;
  /// Clipped at the array's end.
  Box box(ChunkId id) const;
  /// Coordinates of the boxes touched by `box` (origin and shape count boxes). Empty box -> empty result.
  Box boxes_of(const Box& box) const;
  /// Ids of all boxes that share an element with `box`, in row-major order.
  std::vector<ChunkId> overlapping(const Box& box) const;

 private:
  ChunkGrid regular_;  // where there are cuts, only for its array
  std::vector<std::vector<Index>> cuts_;
  Index n_boxes_ = 0;
};

/// Where boxes begin on one axis if it is cut at all multiples of both lengths.
std::vector<Index> cuts_of_both(Index extent, Index a, Index b);

/// Cuts all intervals further, so that none is longer than `most`.
std::vector<Index> cut_further(const std::vector<Index>& cuts, Index extent, Index most);

/// The longest interval; 0 if there is none.
Index longest(const std::vector<Index>& cuts, Index extent);

}  // namespace chunkwise
