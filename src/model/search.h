// The best chunk shape for a set of accesses.
#pragma once

#include <cstdint>
#include <span>

#include "model/lattice.h"
#include "model/objective.h"

namespace chunkwise {

struct SearchResult {
  Shape chunk;
  double objective = 0;        // as the goal counts, without the factor for evenness
  bool within_limits = true;   // false: no shape of the lattice meets them; this one comes near
  bool proven = false;         // no shape of the lattice is better by more than 1 %
  std::uint64_t n_priced = 0;  // candidates whose cost was computed
};

/// Minimises the goal, times the factor for evenness. `array.chunk` is ignored; with `array.shard` the number of
/// objects is not limited here (see search_shards.h). `unlimited` has one entry per axis. Deterministic; milliseconds
/// at any rank. Throws Error{usage} if no chunk fits the limits (an element above the maximum), Error{budget} if none
/// fits the client's memory.
SearchResult search_chunks(const StoredArray& array, const std::vector<bool>& unlimited,
                           std::span<const AccessPattern> patterns, const Device& device, const SearchLimits& limits,
                           const Goal& goal = {});

}  // namespace chunkwise
