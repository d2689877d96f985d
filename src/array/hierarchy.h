// A dataset as a tree: groups, dimensions, attributes, arrays, links.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "array/attribute.h"
#include "array/meta.h"

namespace chunkwise {

/// A named dimension of a group (netCDF); Zarr readers collect them from their arrays.
struct Dimension {
  std::string name;
  Index length = 0;
  bool unlimited = false;
};

struct GroupNode {
  std::string path;  // "/" or "/a/b"
  std::vector<Attribute> attributes;
  std::vector<Dimension> dimensions;  // defined here, in order
  std::uint64_t order = 0;            // creation order over all nodes of the hierarchy
  std::shared_ptr<const Native> native;
};

struct ArrayNode {
  ArrayMeta meta;
  std::vector<Attribute> attributes;
  std::uint64_t order = 0;
  std::shared_ptr<const Native> native;
};

/// A name that stands for another object.
struct LinkNode {
  enum class Kind { hard, soft, external };
  std::string path;
  Kind kind = Kind::soft;
  std::string target;  // path of the object (hard: of its first name in this hierarchy)
  std::string file;    // external: the file
  std::uint64_t order = 0;
};

/// A type with a name of its own among the objects. What it is in full, and who uses it, only its format knows.
struct TypeNode {
  std::string path;
  DType dtype;
  std::vector<Attribute> attributes;
  std::uint64_t order = 0;
  std::shared_ptr<const Native> native;
  ByteOrder byte_order = kNativeOrder;  // of structured types that of their members counts
};

/// Something in the source that has no place in this model (a user-defined link). rechunk refuses it.
struct UnsupportedNode {
  std::string path;
  std::string what;
};

/// Value type; copies share natives. groups[0] is the root; parents come before children.
struct Hierarchy {
  std::string format;  // name of the format it was read from: "nc4", "nc3", "h5", "zarr2", "zarr3"
  std::vector<GroupNode> groups;
  std::vector<ArrayNode> arrays;
  std::vector<LinkNode> links;
  std::vector<TypeNode> types;
  std::vector<UnsupportedNode> unsupported;
  bool consolidated = false;   // Zarr: consolidated metadata was present
  bool classic_model = false;  // netCDF: _nc3_strict
  /// False if elements of an array lie in other files than the dataset's own (HDF5's raw files and mappings).
  bool is_self_contained = true;
  /// Zarr: the dataset is one array without a group. Its path is made up from the name the dataset has, so it changes
  /// with that.
  bool nameless = false;
  std::shared_ptr<const Native> native;
};

/// "/a/b/c" -> "/a/b"; "/c" -> "/".
std::string parent_path(const std::string& path);
/// "/a/b/c" -> "c".
std::string base_name(const std::string& path);
/// The array of that path, of a nameless hierarchy its only array whatever the path. Null if none.
const ArrayNode* find_array(const Hierarchy& tree, const std::string& path);
const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name);
/// The dimension `name` as an array in `group_path` sees it: in that group or the nearest group above. Null if none.
const Dimension* find_dimension(const Hierarchy& tree, const std::string& group_path, std::string_view name);

}  // namespace chunkwise
