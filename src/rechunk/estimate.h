// How large a target will be, told from a sample before anything is written.
#pragma once

#include <cstdint>

#include "array/dataset.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// Bytes, and the interval they are expected in.
struct SizeEstimate {
  double bytes = 0;
  double low_bytes = 0;
  double high_bytes = 0;

  SizeEstimate& operator+=(const SizeEstimate& other);
};

/// Of the stored chunks of one array of the target. Where chunks are copied, or the target has no codec that
/// compresses, the size follows from the source. Else some boxes as large as target chunks (smaller ones where those
/// reach over many chunks of the source) are read, and encoded as they will be. Reads at most some hundred chunks.
/// Throws what reading and decoding throw.
SizeEstimate estimate_target(const Reader& reader, const ArrayMeta& source, const ArrayMeta& target,
                             const ArrayPlan& array, const Plan& plan);

}  // namespace chunkwise
