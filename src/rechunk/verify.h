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

/// The probability that of so many wrong chunks, wherever they are, at least one was among those compared.
double chance_to_find(const VerifyReport& report, Index n_wrong);

/// Reads the target again through `target`, a fresh reader.
/// Both modes: every array is there with its type, shape and attribute names; chunks are decoded in the target's own
/// order and their hashes compared with `proofs`, those of what was written. sample: about 2 % of the chunks, and one
/// of every edge class. full: all; with Plan::proves_all this proves every element, because what was written was
/// compared with what was read. Only where proofs are missing, and for elements that go one by one, the source is read
/// again. Throws Error{mismatch} naming the array, the first element that differs and both values as bytes.
VerifyReport verify(VerifyMode mode, const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources,
                    const Reader& target, const Hierarchy& wanted, std::vector<std::vector<ChunkProof>> proofs,
                    const ProgressSink& progress, std::stop_token stop);

}  // namespace chunkwise
