// Proving that the target holds what the source holds.
#pragma once

#include <stop_token>
#include <vector>

#include "array/dataset.h"
#include "rechunk/execute.h"
#include "rechunk/plan.h"

namespace chunkwise {

enum class VerifyMode { none, sample, full };

struct VerifyReport {
  VerifyMode mode = VerifyMode::none;
  Index n_chunks = 0;  // target chunks compared
  Index n_chunks_total = 0;
  std::uint64_t bytes = 0;  // decoded bytes compared
  double seconds = 0;
};

/// Reads the target again through `target`, a fresh reader.
/// Both modes: every array is there with its type, shape and attribute names.
/// sample: the chunks of `proofs` are decoded and their hashes compared. full: every element of every array is compared
/// with a second reading of the source, by tiles within the plan's memory. Throws Error{mismatch} naming the array, the
/// first element that differs and both values as bytes.
VerifyReport verify(VerifyMode mode, const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources,
                    const Reader& target, const Hierarchy& wanted, const std::vector<std::vector<ChunkProof>>& proofs,
                    const ProgressSink& progress, std::stop_token stop);

}  // namespace chunkwise
