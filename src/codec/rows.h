// The rows of the registry, each defined next to its codec; only registry.cc needs this header besides the codecs.
#pragma once

#include "codec/registry.h"

namespace chunkwise {

extern const CodecRow kShuffleRow;
extern const CodecRow kDeflateRow;
extern const CodecRow kGzipRow;
extern const CodecRow kZstdRow;
extern const CodecRow kLz4Row;
extern const CodecRow kHdf5Lz4Row;
extern const CodecRow kBloscRow;
extern const CodecRow kBz2Row;
extern const CodecRow kLzfRow;
extern const CodecRow kBitshuffleRow;
extern const CodecRow kSzipRow;
extern const CodecRow kNbitRow;
extern const CodecRow kScaleOffsetRow;
extern const CodecRow kBitgroomRow;
extern const CodecRow kGranularBitroundRow;
extern const CodecRow kFletcher32Row;
extern const CodecRow kCrc32cRow;
extern const CodecRow kCrc32Row;
extern const CodecRow kAdler32Row;
extern const CodecRow kJenkinsRow;
extern const CodecRow kLzmaRow;
extern const CodecRow kBase64Row;
extern const CodecRow kDeltaRow;
extern const CodecRow kFixedScaleOffsetRow;
extern const CodecRow kQuantizeRow;
extern const CodecRow kAsTypeRow;
extern const CodecRow kPackBitsRow;
extern const CodecRow kZarr3PackBitsRow;
extern const CodecRow kCategorizeRow;
extern const CodecRow kBitroundRow;
extern const CodecRow kByteswapRow;

}  // namespace chunkwise
