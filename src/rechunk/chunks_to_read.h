// Source chunks that are to be read next, in the order of their addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "array/source.h"

namespace chunkwise {

class ChunksToRead {
 public:
  void clear();
  /// False, and nothing is added, if the chunk is known to be absent. Throws what locating throws.
  bool add(const ArraySource& source, ChunkId id);
  /// When all are added: by object and address, so that neighbours are read together.
  void sort();

  bool at_end() const { return next_ == chunks_.size(); }
  std::size_t size() const { return chunks_.size(); }
  /// Takes the next ones: at least one, then as many as have `most_bytes` together. Returns their bytes.
  std::uint64_t take(std::uint64_t most_bytes, std::vector<ChunkId>& ids);

 private:
  struct Located {
    std::uint64_t object = 0;
    std::uint64_t offset_bytes = 0;
    std::uint64_t length_bytes = 0;
    ChunkId id{};
  };
  std::vector<Located> chunks_;
  std::size_t next_ = 0;
};

}  // namespace chunkwise
