// The regular grid of chunks over an array.
#pragma once

#include <vector>

#include "grid/box.h"
#include "grid/shape.h"

namespace chunkwise {

/// Row-major number of a chunk in its grid.
enum class ChunkId : Index {};
constexpr Index linear(ChunkId id) {
  return static_cast<Index>(id);
}

/// An array cut into equal chunks; those at the far edges overhang the array. Immutable, thread-safe.
class ChunkGrid {
 public:
  ChunkGrid() = default;
  /// Throws Error{corrupt} if ranks differ, an extent is negative, a chunk length is < 1, or counts overflow.
  ChunkGrid(const Shape& array, const Shape& chunk);

  const Shape& array() const { return array_; }
  const Shape& chunk() const { return chunk_; }
  /// Chunks along each axis; 0 where the array is empty.
  const Shape& counts() const { return counts_; }
  Index n_chunks() const { return n_chunks_; }

  Shape coords(ChunkId id) const;
  ChunkId id(const Shape& coords) const;
  /// The part of the array that the chunk covers, clipped at the array's end.
  Box box(ChunkId id) const;
  /// The chunk's own extent, not clipped.
  Box full_box(ChunkId id) const;
  /// True if the chunk reaches past the array on some axis.
  bool overhangs(ChunkId id) const;
  /// Chunk coordinates touched by `box` (origin and shape count chunks). Empty box -> empty result.
  Box chunks_of(const Box& box) const;
  /// Ids of all chunks that share an element with `box`, in row-major order.
  std::vector<ChunkId> overlapping(const Box& box) const;

 private:
  Shape array_;
  Shape chunk_;
  Shape counts_;
  Index n_chunks_ = 0;
};

}  // namespace chunkwise
