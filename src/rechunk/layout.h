// From what the user asked (-c, --codec) to the target layout of every array.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "codec/spec.h"

namespace chunkwise {

/// One -c option, parsed. Immutable.
struct ChunkSpec {
  enum class Kind {
    keep,        // as in the source
    contiguous,  // no chunks
    automatic,   // let the advisor choose
    bytes,       // about this many bytes, in the array's proportions
    lengths,     // a length per named axis
    list,        // a length per axis, by position
  };
  struct Length {
    std::string dim;   // a name or a 0-based axis number
    Index length = 0;  // 0: the whole axis ("all")
  };
  std::string text;      // as the user wrote it, for messages
  std::string variable;  // empty: every variable
  Kind kind = Kind::keep;
  std::uint64_t bytes = 0;
  std::vector<Length> lengths;  // for `list`, dim is empty
};

/// "time/92,y/9", "VAR:time/92", "4MiB", "10,20,30", "auto", "keep", "contiguous". Throws Error{usage}.
ChunkSpec parse_chunk_spec(const std::string& text);

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
  std::vector<CodecRequest> codecs;
  /// Chooses the chunk shape for `auto`.
  std::function<Shape(const ArrayMeta&)> advise;
};

/// Sets storage, chunk and codecs of every array of `tree` (already adapted to the target format). Appends a line to
/// `notes` for everything that did not go literally as asked. Throws Error{usage} for dimensions and variables that do
/// not exist, with the real ones listed.
void apply_layout(const LayoutRequest& request, Hierarchy& tree, std::vector<std::string>& notes);

}  // namespace chunkwise
