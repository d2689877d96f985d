// What the user writes about chunks and shards: -c and --shards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "array/hierarchy.h"

namespace chunkwise {

/// One -c or --shards option, parsed. Immutable.
struct ChunkSpec {
  enum class Kind {
    keep,        // as in the source
    none,        // --shards: every chunk stands alone
    contiguous,  // -c: no chunks
    automatic,   // -c: let the advisor choose
    bytes,       // about this many bytes, in the array's proportions
    lengths,     // a length per named axis
    list,        // a length per axis, by position
  };
  struct Length {
    std::string dim;   // a name or a 0-based axis number
    Index length = 0;  // 0: the whole axis ("all")
  };
  std::string option;    // "-c" or "--shards", for messages
  std::string text;      // as the user wrote it, for messages
  std::string variable;  // empty: every variable
  Kind kind = Kind::keep;
  std::uint64_t bytes = 0;
  std::vector<Length> lengths;  // for `list`, dim is empty
};

/// "time/92,y/9", "VAR:time/92", "4MiB", "10,20,30", "auto", "keep", "contiguous". Throws Error{usage}.
ChunkSpec parse_chunk_spec(const std::string& text);
/// The same, but of the words only "keep" and "none".
ChunkSpec parse_shard_spec(const std::string& text);

/// Axis of `meta` that a dim name or number means; -1 if it has none.
int axis_of(const ArrayMeta& meta, const std::string& dim);
/// The name of an axis for messages: "time", "axis 0".
std::string axis_name(const ArrayMeta& meta, int axis);

/// Throws Error{usage} for a dimension that none of the variables (indexes into tree.arrays) has.
void check_dims_exist(const ChunkSpec& spec, const Hierarchy& tree, const std::vector<std::size_t>& variables);

/// Lengths of a box of about `bytes` in the proportions of `shape`: the same fraction of every axis.
Shape proportional_lengths(const Shape& shape, std::uint64_t element_bytes, std::uint64_t bytes);

}  // namespace chunkwise
