// How many chunks an array has, without a list of them.
#pragma once

#include <cstdint>

#include "array/chunk_keys.h"
#include "array/meta.h"
#include "grid/chunk_grid.h"
#include "store/store.h"

namespace chunkwise {

/// What stands in the store for the whole grid, judged by some of its chunks.
struct ChunkSample {
  Index n_looked_at = 0;
  Index n_found = 0;
  std::uint64_t found_bytes = 0;

  /// Of all chunks of a grid.
  Index about_count(Index n_chunks) const;
  std::uint64_t about_bytes(Index n_chunks) const;
};

/// True if a grid has so many chunks that looking at some of them is much quicker than listing all.
bool is_worth_sampling(const ChunkGrid& grid);

/// Asks for the sizes of some hundreds of chunks, spread over the grid without a period, several at a time. The same
/// store gives the same answer. Throws Error{io}, Error{corrupt}.
ChunkSample sample_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid);

/// Fills what `meta` says of stored chunks so, and says that it is an estimate.
void take_estimate(const ChunkSample& sample, ArrayMeta& meta);

}  // namespace chunkwise
