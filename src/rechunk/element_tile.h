// The elements of a box while they are put together from chunks of another grid.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "array/elements.h"

namespace chunkwise {

/// A table of elements in C order, and the bytes of those. Reused from box to box.
class ElementTile {
 public:
  /// Table and bytes take at most `most_bytes`.
  explicit ElementTile(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  ElementTile(const ElementTile&) = delete;
  ElementTile& operator=(const ElementTile&) = delete;

  /// Begins anew with a box of which every element is `fill`, whose bytes stay where they are. False if the table alone
  /// takes too much.
  bool begin(const Box& box, const ElementView& fill);
  /// Copies elements into their places; `part` lies in the box. False if there is no more room.
  bool put(const Box& part, std::span<const ElementView> elements);
  /// Copies bytes that shall live as long as the elements. False if there is no more room.
  bool keep(ByteView bytes, ElementView& kept);

  const Box& box() const { return box_; }
  /// All elements in C order; they may be exchanged.
  std::span<ElementView> elements() { return elements_; }
  /// Those of a part, in C order.
  void elements(const Box& part, std::vector<ElementView>& out) const;

 private:
  const std::uint64_t most_bytes_;
  std::uint64_t used_bytes_ = 0;
  Box box_;
  Shape strides_;
  std::vector<ElementView> elements_;
  std::deque<Bytes> blocks_;
  std::size_t block_used_bytes_ = 0;  // of the last one
};

/// Reads a box of an array: elements of chunks that were never written are `fill`. False if the tile has no room.
bool gather_elements(ElementSource& source, const Box& box, const ElementView& fill, ElementTile& tile);

}  // namespace chunkwise
