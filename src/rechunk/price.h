// What the ways of a rewrite cost, to compare them.
#pragma once

#include <cstdint>

#include "rechunk/intermediate.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// Core-seconds at typical rates of the codecs: decoding with a copy out of the chunk, encoding with a copy into it.
double decoding_s(const CodecSpecs& codecs, double decoded_bytes, double n_chunks);
double encoding_s(const CodecSpecs& codecs, double decoded_bytes, double n_chunks);

/// Seconds of a rewrite by one thread or more on the device that chunkadvise takes when it knows none: of each stage
/// the longer of the device's work and the cores'. Deterministic.
double price_of_passes(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan, int n_threads);
double price_of_intermediate(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan,
                             const IntermediatePlan& intermediate, int n_threads);

}  // namespace chunkwise
