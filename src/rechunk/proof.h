// What is remembered of a target chunk until the target is read back.
#pragma once

#include <cstdint>

#include "grid/chunk_grid.h"

namespace chunkwise {

/// What a target chunk held when it was written, for verification.
struct ChunkProof {
  ChunkId id{};
  std::uint64_t hash = 0;  // XXH3 of the decoded chunk as gathered (rewrite) or of its encoded bytes (copy)
  bool absent = false;

  friend bool operator==(const ChunkProof&, const ChunkProof&) = default;
};

/// True for chunks whose proof is kept.
bool is_sampled(const ChunkGrid& grid, ChunkId id);

}  // namespace chunkwise
