// The ways in which the fuzzer of decoders sets codecs up.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/spec.h"

namespace chunkwise::fuzz {

inline constexpr std::size_t kElementBytes = 4;

/// Every codec in at least one way; fewer than 256.
std::vector<CodecSpec> codec_setups();

}  // namespace chunkwise::fuzz
