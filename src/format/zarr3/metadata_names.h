// Names that metadata.cc reads and metadata_print.cc writes.
#pragma once

#include <array>
#include <string_view>

#include "array/dtype.h"

namespace chunkwise::zarr3 {

inline constexpr std::string_view kFormat = "zarr3";
// Of codecs that are unknown here: where they stand.
inline constexpr const char* kBeforeBytes = "before_bytes";
inline constexpr const char* kMakesBytes = "makes_bytes";
inline constexpr std::string_view kShardCodec = "sharding_indexed";

struct VaryingCodec {
  std::string_view name;
  DType::Kind kind;
};
// How elements of any length become bytes; the first of a kind is the one that is written.
inline constexpr std::array<VaryingCodec, 4> kVaryingCodecs{{{"vlen-utf8", DType::Kind::string},
                                                             {"vlen-bytes", DType::Kind::list},
                                                             {"numcodecs.vlen-utf8", DType::Kind::string},
                                                             {"numcodecs.vlen-bytes", DType::Kind::list}}};

}  // namespace chunkwise::zarr3
