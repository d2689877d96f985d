// Running a plan: read, decode, gather, encode and write, all overlapped.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "array/dataset.h"
#include "rechunk/done_chunks.h"
#include "rechunk/plan.h"
#include "rechunk/progress.h"
#include "rechunk/proof.h"
#include "rechunk/stage_totals.h"

namespace chunkwise {

struct ExecuteResult {
  StageTotals totals;
  /// Per array of the plan: about 2 % of the target's chunks and one of every edge class.
  std::vector<std::vector<ChunkProof>> proofs;
  Index n_tiles_skipped = 0;  // all of their chunks were done before
  std::vector<Loss> losses;   // found out on the way, if the plan allows it
};

/// Carries out `plan` from `reader` to `writer`; arrays[i] of the plan are arrays[i] of both trees.
/// What `done` knows to be done is left out, what is done now is added to it.
/// Throws the first error; Error{interrupted} if `stop` was requested.
ExecuteResult execute(const Plan& plan, const Reader& reader, const std::vector<ArrayMeta>& sources, Writer& writer,
                      const std::vector<ArrayMeta>& targets, DoneChunks& done, const ProgressSink& progress,
                      std::stop_token stop);

}  // namespace chunkwise
