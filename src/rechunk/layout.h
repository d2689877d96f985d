// From what the user asked (-c, --shards, --codec) to the target layout of every array.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "codec/spec.h"
#include "rechunk/chunk_spec.h"

namespace chunkwise {

/// One --codec option, parsed. No codecs value means keep.
struct CodecRequest {
  std::string variable;  // empty: every variable
  std::optional<CodecSpecs> codecs;
};

/// "shuffle,deflate:1", "none", "keep", "VAR:zstd:3" (a first part that names no codec is a variable). Throws
/// Error{usage}.
CodecRequest parse_codec_request(const std::string& text);

/// What the user asked of the layouts. Specs apply in order, those that name a variable after those that do not, so a
/// later one wins where both speak of an axis.
struct LayoutRequest {
  std::vector<ChunkSpec> chunks;
  std::vector<ChunkSpec> shards;
  std::vector<CodecRequest> codecs;
  /// Chooses the chunk shape for `auto`.
  std::function<Shape(const ArrayMeta&)> advise;
};

/// Sets storage, chunk, shards and codecs of every array of `tree` (already adapted to the target format). Appends a
/// line to `notes` for everything that did not go literally as asked. Throws Error{usage} for dimensions and variables
/// that do not exist, with the real ones listed, and for shards that are not whole chunks.
void apply_layout(const LayoutRequest& request, Hierarchy& tree, std::vector<std::string>& notes);

}  // namespace chunkwise
