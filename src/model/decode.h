// What decoding costs, by codec name.
#pragma once

#include "codec/spec.h"

namespace chunkwise {

/// One core, as ordinary readers decode. Value type.
struct DecodeCost {
  double s_per_byte = 0;          // of decoded data
  double deflate_s_per_byte = 0;  // the part of it that is deflate's
  double s_per_chunk = 0;
  bool compresses = false;  // equal bytes (padding) then take nearly no space
  bool estimated = false;   // a codec of unknown speed is in the chain
};
DecodeCost decode_cost(const CodecSpecs& codecs);

}  // namespace chunkwise
