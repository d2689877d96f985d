#include "rechunk/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

std::string_view without_slash(std::string_view path) {
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  return path;
}

bool names(const std::string& path, const std::string& name) {
  return without_slash(path) == without_slash(name) || (name.find('/') == std::string::npos && base_name(path) == name);
}

/// Adds the coordinate variables of array `index` to `chosen`.
void add_coordinates(const Hierarchy& tree, std::size_t index, std::set<std::size_t>& chosen) {
  const ArrayMeta& meta = tree.arrays[index].meta;
  for (const std::string& dim : meta.dims) {
    if (dim.empty()) continue;
    for (std::string group = parent_path(meta.path);; group = parent_path(group)) {
      const std::string wanted = (group == "/" ? "" : group) + "/" + dim;
      const auto found = std::find_if(tree.arrays.begin(), tree.arrays.end(),
                                      [&](const ArrayNode& node) { return node.meta.path == wanted; });
      if (found != tree.arrays.end() && found->meta.shape.rank() == 1) {
        chosen.insert(static_cast<std::size_t>(found - tree.arrays.begin()));
        break;
      }
      if (group == "/") break;
    }
  }
}

}  // namespace

std::vector<std::size_t> find_variables(const Hierarchy& tree, const std::string& name) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < tree.arrays.size(); ++i)
    if (names(tree.arrays[i].meta.path, name)) found.push_back(i);
  if (found.empty()) {
    std::vector<std::string> known;
    for (const ArrayNode& node : tree.arrays) known.emplace_back(without_slash(node.meta.path));
    throw Error(Code::usage, fmt::format("no variable '{}'", name), suggest(name, known));
  }
  return found;
}

void select_variables(Hierarchy& tree, const std::vector<std::string>& keep, const std::vector<std::string>& exclude) {
  std::set<std::size_t> chosen;
  if (keep.empty()) {
    for (std::size_t i = 0; i < tree.arrays.size(); ++i) chosen.insert(i);
  } else {
    for (const std::string& name : keep)
      for (std::size_t i : find_variables(tree, name)) {
        chosen.insert(i);
        add_coordinates(tree, i, chosen);
      }
  }
  for (const std::string& name : exclude) {
    const bool names_unsupported = std::any_of(tree.unsupported.begin(), tree.unsupported.end(),
                                               [&](const UnsupportedNode& node) { return names(node.path, name); });
    const bool names_type =
        std::any_of(tree.types.begin(), tree.types.end(), [&](const TypeNode& node) { return names(node.path, name); });
    if (names_unsupported || names_type) continue;
    for (std::size_t i : find_variables(tree, name)) chosen.erase(i);
  }

  std::set<std::string> kept_paths;
  std::set<std::string> dropped_paths;
  std::vector<ArrayNode> arrays;
  for (std::size_t i = 0; i < tree.arrays.size(); ++i) {
    if (chosen.contains(i)) {
      kept_paths.insert(tree.arrays[i].meta.path);
      arrays.push_back(std::move(tree.arrays[i]));
    } else {
      dropped_paths.insert(tree.arrays[i].meta.path);
    }
  }
  tree.arrays = std::move(arrays);
  std::erase_if(tree.links, [&](const LinkNode& link) { return dropped_paths.contains(link.target); });
  std::erase_if(tree.types, [&](const TypeNode& node) {
    return std::any_of(exclude.begin(), exclude.end(), [&](const std::string& name) { return names(node.path, name); });
  });
  std::erase_if(tree.unsupported, [&](const UnsupportedNode& node) {
    return !keep.empty() ||
           std::any_of(exclude.begin(), exclude.end(), [&](const std::string& name) { return names(node.path, name); });
  });
}

}  // namespace chunkwise
