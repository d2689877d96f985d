// Codecs of a Zarr store that nobody here can run. Their metadata is kept, so that chunks can be copied as they are.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "codec/spec.h"

namespace chunkwise {

/// Named "<format>:<name>", so that it is none of ours; `metadata` is what the store says of it.
CodecSpec foreign_codec(std::string_view format, const std::string& name, const Json& metadata);
/// True if the name is one of a codec of this format, "zarr2" or "zarr3", that nobody here can run.
bool is_foreign_to(std::string_view format, std::string_view codec_name);
/// What foreign_codec was given.
Json foreign_metadata(const CodecSpec& spec);
/// What messages call a codec that is not in the table: "codec 'pcodec'", "filter 32013 (zfp)".
std::string describe_unknown(const CodecSpec& spec);

}  // namespace chunkwise
