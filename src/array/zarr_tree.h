// What the two Zarr formats share about trees: what they remember beside the neutral model, finding nodes, dimensions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/hierarchy.h"
#include "base/json_fwd.h"
#include "store/store.h"

namespace chunkwise {

/// Metadata objects larger than this are refused as corrupt.
inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;

/// What an array was before it came to a format that has no word for it. Any format may derive from it and look into
/// it.
struct ArrayOrigin : Native {
  /// Contiguous or compact; nothing if it was chunked or is not known.
  std::optional<Storage> storage;
  /// The codecs it had, "shuffle,deflate:1"; empty if they are still the array's own.
  std::string codecs;
};

/// Of an array that was read from Zarr or is about to be written to it.
struct ZarrArray : ArrayOrigin {
  /// Of the keys, as read; 0 if the format's default shall be used.
  char separator = 0;
  /// Zarr v2: the separator is not stated but was found by looking.
  bool separator_found = false;
  /// Zarr v3: the key encoding is "v2" rather than "default".
  bool v2_keys = false;
  /// Zarr v2: the JSON of fill_value; empty: not decided.
  std::string fill_json;
  /// Zarr v3: data_type and fill_value in the file's own words, and what they were read as.
  struct Spelling {
    std::string type_json;
    std::string fill_json;
    DType dtype;
    std::vector<std::byte> fill;
  };
  Spelling spelling;
  /// The fill that the metadata does not tell (Zarr v2 null): in the array's byte order; empty: undefined.
  std::optional<std::vector<std::byte>> untold_fill;
  /// Zarr v2: there is a list of dimension names, even of none.
  bool has_dimension_list = false;
  /// Zarr v2: the JSON of the filter that makes bytes of objects, as read; empty: not decided.
  std::string object_codec;
  /// Zarr v2: order "F", also where the rank is too small to matter.
  bool order_f = false;
  /// Chunks were missing in the source.
  bool has_absent_chunks = false;
};

/// Of a hierarchy.
struct ZarrTree : Native {
  /// The format the data came from first: "nc4". Empty if that was Zarr.
  std::string source;
};

/// Parses a metadata object; nothing if absent. Throws Error{corrupt} naming the key, also if it is no JSON object.
std::optional<Json> read_metadata(const Store& store, const std::string& key);

/// "a/b" + ".zarray" -> "a/b/.zarray"; at the root ".zarray".
std::string metadata_key(const std::string& node, std::string_view name);

/// Visits the root and all prefixes below it. What lies below one is listed only if the visitor returns true: an array
/// may hold millions of chunks. Throws Error{corrupt} if the tree is deeper than 128 or has more than a million
/// prefixes (a loop of links).
using PrefixVisitor = std::function<bool(const std::string& prefix)>;
void walk_prefixes(const Store& store, const PrefixVisitor& visit);

/// Throws Error{corrupt} unless `path`, a relative node path from consolidated metadata, is "a/b/c" of plain names.
void check_node_path(const std::string& path);

/// Adds groups that are implied by their children, sorts nodes by path, numbers them in that order.
/// Throws Error{corrupt} if a node lies below an array, or two nodes have one path.
void complete_tree(Hierarchy& tree);

/// Fills GroupNode::dimensions from the names and extents of the arrays: a name that a group above has with the same
/// length is that one's; a name with several lengths in one group is no dimension. Existing dimensions stay.
void collect_dimensions(Hierarchy& tree);

/// Throws Error{corrupt} if the elements, the chunks or the bytes of a chunk or of the array are more than 2^63.
void check_extents(const ArrayMeta& meta);

/// A chunk for an array that had none: the whole array, or a run of about 4 MiB along the slowest axes.
Shape default_object_chunk(const Shape& shape, std::size_t element_bytes);

/// "/dir/t2m.zarr/" -> "t2m": the name of the array when a store is one.
std::string store_name(const std::string& path);

}  // namespace chunkwise
