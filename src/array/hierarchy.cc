#include "array/hierarchy.h"

namespace chunkwise {

std::string parent_path(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

std::string base_name(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

const ArrayNode* find_array(const Hierarchy& tree, const std::string& path) {
  if (tree.nameless && tree.arrays.size() == 1) return &tree.arrays[0];
  for (const ArrayNode& array : tree.arrays) {
    if (array.meta.path == path) return &array;
  }
  return nullptr;
}

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

const Dimension* find_dimension(const Hierarchy& tree, const std::string& group_path, std::string_view name) {
  for (std::string at = group_path;; at = parent_path(at)) {
    for (const GroupNode& group : tree.groups) {
      if (group.path != at) continue;
      for (const Dimension& dimension : group.dimensions) {
        if (dimension.name == name) return &dimension;
      }
    }
    if (at == "/" || at.empty()) return nullptr;
  }
}

}  // namespace chunkwise
