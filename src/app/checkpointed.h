// A rewrite with checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "array/dataset.h"
#include "rechunk/done_chunks.h"
#include "rechunk/journal.h"

namespace chunkwise {

/// What becomes of the journal at the end.
enum class LastCheckpoint {
  if_begun,       // one, unless the work ended before the first was due
  unless_failed,  // the same; none after an error other than an interruption
  always,
};

/// Runs `work`, making checkpoints meanwhile and one at its end. A checkpoint that fails stops the work. Throws what
/// either throws.
void run_with_checkpoints(Writer& writer, DoneChunks& done, Journal& journal, std::uint64_t total_bytes,
                          LastCheckpoint last, const std::stop_token& stop,
                          const std::function<void(std::stop_token)>& work);

}  // namespace chunkwise
