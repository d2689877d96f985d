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
extern const CodecRow kBitroundRow;
extern const CodecRow kFletcher32Row;
extern const CodecRow kCrc32cRow;

}  // namespace chunkwise
