// Where chunks were given their places in a file being written, for a later process that must give them the same.
//
// A checkpoint keeps no metadata of HDF5. It keeps the order in which the library was asked for places of raw data, and
// the answers. Asked the same in the same order, a library that makes the file anew gives the same answers, and the
// bytes of chunks that were written before lie where its new index says. That the answers agree is checked one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "array/source.h"
#include "base/packing.h"

namespace chunkwise::hdf5 {

/// The library gave a chunk, or all of a contiguous array, its place.
struct Allocation {
  std::uint32_t array = 0;  // number of the sink
  ChunkId chunk{};          // 0 for contiguous arrays
  std::uint64_t size_bytes = 0;
  std::uint32_t filter_mask = 0;
  std::uint64_t address = 0;
};

void pack(Packer& out, const std::vector<Allocation>& allocations);
/// Throws Error{corrupt}.
std::vector<Allocation> unpack_allocations(ByteView packed);

/// Bytes of a file that must not be written over. Neighbours are one range.
class KeptRanges {
 public:
  void add(std::uint64_t address, std::uint64_t size_bytes);
  /// Must be called after the last add().
  void sort();
  /// Calls `use(begin, end)` for every part of [begin, end) that is not kept.
  template <typename F>
  void for_each_gap(std::uint64_t begin, std::uint64_t end, F&& use) const {
    for (std::size_t i = first_after(begin); begin < end; ++i) {
      if (i == ranges_.size() || ranges_[i].begin >= end) {
        use(begin, end);
        return;
      }
      if (ranges_[i].begin > begin) use(begin, ranges_[i].begin);
      begin = ranges_[i].end > begin ? ranges_[i].end : begin;
    }
  }

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  /// The first range that ends behind `address`.
  std::size_t first_after(std::uint64_t address) const;

  std::vector<Range> ranges_;
};

}  // namespace chunkwise::hdf5
