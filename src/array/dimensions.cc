#include "array/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMaxNetcdfNameBytes = 256;

class DimensionAdapter {
 public:
  DimensionAdapter(Hierarchy& tree, bool netcdf, AdaptReport& report) : tree_(tree), netcdf_(netcdf), report_(report) {}

  void run() {
    for (GroupNode& group : tree_.groups) group_at_[group.path] = &group;
    normalise();
    rename_unusable();
    define_missing();
    if (netcdf_) name_nameless();
    spread_unlimited();
  }

 private:
  struct Wanted {
    std::string name;
    Index length = 0;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };

  GroupNode& group_of(const std::string& path) {
    const auto found = group_at_.find(path);
    CHUNKWISE_CHECK(found != group_at_.end());
    return *found->second;
  }

  static Dimension* own(GroupNode& group, std::string_view name) {
    for (Dimension& dimension : group.dimensions)
      if (dimension.name == name) return &dimension;
    return nullptr;
  }

  /// The dimension `name` as group `path` sees it.
  Dimension* visible(const std::string& path, std::string_view name) {
    for (std::string at = path;; at = parent_path(at)) {
      if (Dimension* found = own(group_of(at), name)) return found;
      if (at == "/") return nullptr;
    }
  }

  /// The nearest dimension of that name that suits the axis: an inner one of another length does not hide it.
  Dimension* suiting(const ArrayMeta& meta, int axis, std::string_view name) {
    for (std::string at = parent_path(meta.path);; at = parent_path(at)) {
      if (Dimension* found = own(group_of(at), name); found != nullptr && suits(*found, meta.shape[axis])) return found;
      if (at == "/") return nullptr;
    }
  }

  void normalise() {
    for (ArrayNode& node : tree_.arrays) {
      ArrayMeta& meta = node.meta;
      if (meta.max_shape.rank() != meta.shape.rank()) meta.max_shape = meta.shape;
      if (!meta.dims.empty()) meta.dims.resize(static_cast<std::size_t>(meta.shape.rank()));
    }
  }

  bool has_child(const std::string& group, const std::string& name) const {
    return group_at_.contains((group == "/" ? "" : group) + "/" + name);
  }

  /// A name that no dimension `group` sees and no group has.
  std::string free_name(const std::string& group, const std::string& base) {
    std::string name = base;
    for (int i = 2; visible(group, name) != nullptr || has_child(group, name); ++i)
      name = fmt::format("{}_{}", base, i);
    return name;
  }

  /// Names that cannot be a link's, and those that a group has already.
  void rename_unusable() {
    for (GroupNode& group : tree_.groups)
      for (std::size_t i = 0; i < group.dimensions.size(); ++i) {
        Dimension& dimension = group.dimensions[i];
        const std::string usable = usable_name(group.path, dimension.name);
        if (usable == dimension.name) continue;
        const std::string old = std::exchange(dimension.name, usable);
        report_.notes.push_back(fmt::format("{}: dimension '{}' is renamed {}", group.path, old, usable));
        renamed_[{group.path, old}] = usable;
      }
    for (ArrayNode& node : tree_.arrays)
      for (std::string& dim : node.meta.dims)
        if (!dim.empty()) dim = new_name(parent_path(node.meta.path), dim);
  }

  std::string usable_name(const std::string& group, const std::string& name) {
    std::string usable = name;
    if (!is_valid_name(usable, netcdf_)) {
      std::replace_if(
          usable.begin(), usable.end(), [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20; }, '_');
      while (!usable.empty() && usable.back() == ' ') usable.back() = '_';
      if (!is_valid_name(usable, netcdf_)) usable = "dim_" + usable.substr(0, 200);
    }
    if (has_child(group, usable)) usable += "_dim";
    return usable == name ? name : free_name(group, usable);
  }

  std::string new_name(const std::string& group, const std::string& name) {
    for (std::string at = group;; at = parent_path(at)) {
      if (const auto found = renamed_.find({at, name}); found != renamed_.end()) return found->second;
      if (own(group_of(at), name) != nullptr || at == "/") break;
    }
    return is_valid_name(name, netcdf_) ? name : usable_name(group, name);
  }

  /// Defines the dimensions that arrays name and no group has.
  void define_missing() {
    // Coordinate variables first: theirs is the length that keeps the name.
    for (const bool coordinates : {true, false}) {
      std::map<Wanted, std::set<std::string>> groups_wanting;
      for_axes(coordinates, [&](ArrayMeta& meta, int axis, std::string& dim) {
        const std::string group = parent_path(meta.path);
        if (suiting(meta, axis, dim) == nullptr) groups_wanting[{dim, meta.shape[axis]}].insert(group);
      });
      for_axes(coordinates, [&](ArrayMeta& meta, int axis, std::string& dim) {
        const std::string group = parent_path(meta.path);
        if (suiting(meta, axis, dim) != nullptr) return;
        const auto wanting = groups_wanting.find({dim, meta.shape[axis]});
        const bool shared = wanting != groups_wanting.end() && wanting->second.size() > 1;
        define(shared && visible(group, dim) == nullptr ? "/" : group, meta, axis, dim);
      });
    }
  }

  template <typename Use>
  void for_axes(bool coordinates, Use use) {
    for (ArrayNode& node : tree_.arrays) {
      ArrayMeta& meta = node.meta;
      const bool is_coordinate = meta.dims.size() == 1 && meta.dims[0] == base_name(meta.path);
      if (is_coordinate != coordinates) continue;
      for (std::size_t axis = 0; axis < meta.dims.size(); ++axis)
        if (!meta.dims[axis].empty()) use(meta, static_cast<int>(axis), meta.dims[axis]);
    }
  }

  void define(const std::string& home, const ArrayMeta& meta, int axis, std::string& dim) {
    GroupNode& group = group_of(home);
    const Index length = meta.shape[axis];
    std::string name = has_child(home, dim) ? dim + "_dim" : dim;
    if (const Dimension* other = own(group, name)) {
      // Reuse what an earlier array was given for the same conflict.
      const std::string renamed = fmt::format("{}_{}", name, length);
      if (const Dimension* same = own(group, renamed); same == nullptr || same->length != length)
        name = free_name(home, renamed);
      else
        name = renamed;
      report_.notes.push_back(fmt::format("{}: dimension {} is renamed {}, as {} of {} has length {}", meta.path, dim,
                                          name, other->name, home, other->length));
    } else if (name != dim) {
      report_.notes.push_back(
          fmt::format("{}: dimension {} is renamed {}, as a group has its name", meta.path, dim, name));
    }
    if (own(group, name) == nullptr) group.dimensions.push_back({name, length, false});
    dim = name;
  }

  /// netCDF-C's names for axes without: arrays of a group share one of the same length, axes of one array never do.
  /// Unlike netCDF-C, only such names are shared: equal length does not make a nameless axis mean "time".
  void name_nameless() {
    std::size_t next_id = 0;
    for (const GroupNode& group : tree_.groups) next_id += group.dimensions.size();
    std::set<std::pair<std::string, std::string>> phony;  // group, name
    for (ArrayNode& node : tree_.arrays) {
      ArrayMeta& meta = node.meta;
      meta.dims.resize(static_cast<std::size_t>(meta.shape.rank()));
      GroupNode& group = group_of(parent_path(meta.path));
      std::set<std::string> used;
      for (int axis = 0; axis < meta.shape.rank(); ++axis) {
        std::string& dim = meta.dims[static_cast<std::size_t>(axis)];
        if (!dim.empty()) continue;
        const bool unlimited = meta.max_shape[axis] == kUnlimited;
        for (const Dimension& known : group.dimensions)
          if (known.length == meta.shape[axis] && known.unlimited == unlimited && !used.contains(known.name) &&
              phony.contains({group.path, known.name})) {
            dim = known.name;
            break;
          }
        if (dim.empty()) {
          dim = free_name(group.path, fmt::format("phony_dim_{}", next_id++));
          group.dimensions.push_back({dim, meta.shape[axis], unlimited});
          phony.insert({group.path, dim});
        }
        used.insert(dim);
      }
      if (!used.empty())
        report_.notes.push_back(fmt::format("{}: axes without a name become {}", meta.path, fmt::join(used, ", ")));
    }
  }

  /// An axis may grow if and only if its dimension may.
  void spread_unlimited() {
    const auto each = [this](auto use) {
      for (ArrayNode& node : tree_.arrays)
        for (std::size_t axis = 0; axis < node.meta.dims.size(); ++axis)
          if (!node.meta.dims[axis].empty())
            if (Dimension* dimension = suiting(node.meta, static_cast<int>(axis), node.meta.dims[axis]))
              use(node.meta.max_shape[static_cast<int>(axis)], *dimension);
    };
    each([](Index most, Dimension& dimension) { dimension.unlimited |= most == kUnlimited; });
    each([](Index& most, const Dimension& dimension) {
      if (dimension.unlimited) most = kUnlimited;
    });
  }

  Hierarchy& tree_;
  bool netcdf_;
  AdaptReport& report_;
  std::map<std::string, GroupNode*> group_at_;
  std::map<std::pair<std::string, std::string>, std::string> renamed_;
};

}  // namespace

bool suits(const Dimension& dimension, Index length) {
  return dimension.length == length || (dimension.unlimited && length <= dimension.length);
}

bool is_valid_name(std::string_view name, bool netcdf) {
  if (name.empty() || name == "." || name.find('/') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos)
    return false;
  if (!netcdf) return true;
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return name != ".." && name.back() != ' ' && name.size() <= kMaxNetcdfNameBytes && !has_control;
}

void adapt_dimensions(Hierarchy& tree, bool netcdf, AdaptReport& report) {
  DimensionAdapter(tree, netcdf, report).run();
}

}  // namespace chunkwise
