#include "array/zarr_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "store/open_store.h"
#include "store/store_key.h"

namespace chunkwise {
namespace {

constexpr int kMaxDepth = 128;
constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::size_t kMaxPrefixes = 1'000'000;
constexpr std::size_t kDefaultChunkBytes = std::size_t{4} << 20;

class Walk {
 public:
  Walk(const Store& store, const PrefixVisitor& visit) : store_(store), visit_(visit) {}

  void at(const std::string& prefix, int depth) {
    if (depth > kMaxDepth || ++n_prefixes_ > kMaxPrefixes) {
      throw Error(
          Code::corrupt,
          fmt::format("the directory tree is deeper than {} or has more than {} directories", kMaxDepth, kMaxPrefixes),
          "look for a symbolic link that leads back up")
          .in(prefix);
    }
    const auto children = store_.list(prefix);
    if (!visit_(prefix, children)) return;
    for (const Store::Entry& child : children) {
      if (child.is_prefix) at(prefix.empty() ? child.name : prefix + "/" + child.name, depth + 1);
    }
  }

 private:
  const Store& store_;
  const PrefixVisitor& visit_;
  std::size_t n_prefixes_ = 0;
};

// Orders paths so that a parent comes first and its descendants follow it directly.
bool path_less(const std::string& a, const std::string& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
    return rank(x) < rank(y);
  });
}

struct NodeRef {
  const std::string* path = nullptr;
  std::uint64_t* order = nullptr;
  bool is_array = false;
};

}  // namespace

std::optional<Json> read_metadata(const Store& store, const std::string& key) {
  const auto bytes = store.read(key, kMaxMetadataBytes);
  if (!bytes) return std::nullopt;
  try {
    Json document = parse_json(as_text(*bytes));
    if (!document.is_object()) throw Error(Code::corrupt, "the metadata is no JSON object");
    return document;
  } catch (Error& error) {
    throw error.in(key);
  }
}

std::string metadata_key(const std::string& node, std::string_view name) {
  return node.empty() ? std::string(name) : fmt::format("{}/{}", node, name);
}

void walk_prefixes(const Store& store, const PrefixVisitor& visit) {
  Walk(store, visit).at("", 0);
}

void check_node_path(const std::string& path) {
  if (path.size() > kMaxPathBytes || std::count(path.begin(), path.end(), '/') > kMaxDepth) {
    throw Error(Code::corrupt, fmt::format("consolidated metadata names a node with a path of {} bytes", path.size()));
  }
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view name = std::string_view(path).substr(begin, end - begin);
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) {
      throw Error(Code::corrupt,
                  fmt::format("consolidated metadata names a node '{}', which is no relative path", shown_key(path)));
    }
    if (end == path.size()) return;
    begin = end + 1;
  }
}

void complete_tree(Hierarchy& tree) {
  std::unordered_map<std::string, bool> is_array;  // by path
  const auto add = [&](const std::string& path, bool array) {
    if (!is_array.emplace(path, array).second) throw Error(Code::corrupt, "two nodes have one path").in(path);
  };
  for (const GroupNode& group : tree.groups) add(group.path, false);
  for (const ArrayNode& array : tree.arrays) add(array.meta.path, true);

  std::vector<std::string> paths;
  for (const auto& [path, unused] : is_array) paths.push_back(path);
  for (const std::string& path : paths) {
    for (std::string parent = path; parent != "/";) {
      parent = parent_path(parent);
      const auto [found, is_new] = is_array.emplace(parent, false);
      if (found->second) throw Error(Code::corrupt, fmt::format("the array {} has a node below it", parent)).in(path);
      if (!is_new) break;
      GroupNode implied;
      implied.path = parent;
      tree.groups.push_back(std::move(implied));
    }
  }
  std::sort(tree.groups.begin(), tree.groups.end(),
            [](const GroupNode& a, const GroupNode& b) { return path_less(a.path, b.path); });
  std::sort(tree.arrays.begin(), tree.arrays.end(),
            [](const ArrayNode& a, const ArrayNode& b) { return path_less(a.meta.path, b.meta.path); });
  std::vector<NodeRef> nodes;
  for (GroupNode& group : tree.groups) nodes.push_back({&group.path, &group.order, false});
  for (ArrayNode& array : tree.arrays) nodes.push_back({&array.meta.path, &array.order, true});
  std::sort(nodes.begin(), nodes.end(), [](const NodeRef& a, const NodeRef& b) { return path_less(*a.path, *b.path); });
  for (std::size_t i = 0; i < nodes.size(); ++i) *nodes[i].order = i;
}

void collect_dimensions(Hierarchy& tree) {
  std::unordered_map<std::string, std::vector<const ArrayNode*>> arrays_of;
  for (const ArrayNode& array : tree.arrays) {
    if (!array.meta.dims.empty()) arrays_of[parent_path(array.meta.path)].push_back(&array);
  }
  std::unordered_map<std::string, std::unordered_map<std::string, Index>> lengths_of;  // by group
  for (GroupNode& group : tree.groups) {                                               // parents come first
    auto& lengths = lengths_of[group.path];
    for (const Dimension& dimension : group.dimensions) lengths[dimension.name] = dimension.length;
    std::vector<std::string> names;  // in order of appearance
    std::unordered_map<std::string, Index> uses;
    constexpr Index kConflict = -1;
    for (const ArrayNode* array : arrays_of[group.path]) {
      for (int axis = 0; axis < array->meta.shape.rank(); ++axis) {
        const std::string& name = array->meta.dims[static_cast<std::size_t>(axis)];
        if (name.empty()) continue;
        const auto [use, is_new] = uses.emplace(name, array->meta.shape[axis]);
        if (is_new) names.push_back(name);
        if (use->second != array->meta.shape[axis]) use->second = kConflict;
      }
    }
    for (const std::string& name : names) {
      const Index length = uses[name];
      if (length == kConflict || lengths.count(name) != 0) continue;
      // The nearest group above that has the name decides: it is that dimension, or this one shadows it.
      bool known = false;
      for (std::string at = group.path; at != "/";) {
        at = parent_path(at);
        const auto& above = lengths_of[at];
        const auto found = above.find(name);
        if (found == above.end()) continue;
        known = found->second == length;
        break;
      }
      if (known) continue;
      group.dimensions.push_back({name, length, false});
      lengths[name] = length;
    }
  }
}

void check_extents(const ArrayMeta& meta) {
  const auto elements = checked_product(meta.shape);
  if (!elements || !checked_mul(*elements, static_cast<Index>(meta.dtype.bytes))) {
    throw Error(Code::corrupt, fmt::format("an array of {} elements of {} bytes is larger than 2^63 bytes",
                                           to_string(meta.shape), meta.dtype.bytes));
  }
  meta.grid();
  ChunkGrid(meta.shape, meta.unit());
  meta.chunk_bytes();
}

Shape default_object_chunk(const Shape& shape, std::size_t element_bytes) {
  Shape chunk = shape;
  for (int axis = 0; axis < chunk.rank(); ++axis) chunk[axis] = std::max<Index>(chunk[axis], 1);
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    // Bytes of one index along this axis; beyond 2^63 is surely too many.
    double rest = static_cast<double>(element_bytes);
    for (int later = axis + 1; later < chunk.rank(); ++later) rest *= static_cast<double>(chunk[later]);
    const double limit = static_cast<double>(kDefaultChunkBytes);
    if (rest * static_cast<double>(chunk[axis]) <= limit) break;
    chunk[axis] = rest >= limit ? 1 : static_cast<Index>(limit / rest);
  }
  return chunk;
}

std::string store_name(const std::string& path) {
  std::filesystem::path directory = std::filesystem::path(path).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  if (directory.filename() == "." || directory.filename() == ".." || directory.filename().empty()) {
    std::error_code ignored;
    directory = std::filesystem::weakly_canonical(std::filesystem::path(path), ignored);
    if (!directory.has_filename()) directory = directory.parent_path();
  }
  if (has_zip_name(directory.string())) directory = directory.stem();
  if (directory.extension() == ".zarr") directory = directory.stem();
  const std::string name = directory.filename().string();
  return name.empty() || name == "." || name == ".." ? "array" : name;
}

}  // namespace chunkwise
