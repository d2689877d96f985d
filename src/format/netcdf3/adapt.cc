#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "array/dimensions.h"
#include "array/linear.h"
#include "base/error.h"
#include "format/netcdf3/file_plan.h"
#include "format/netcdf3/format.h"
#include "format/netcdf3/native.h"

namespace chunkwise::netcdf3 {
namespace {

/// One unlimited dimension at most, and only as the first axis; none of length 0 otherwise.
class RecordAdapter {
 public:
  RecordAdapter(Hierarchy& tree, AdaptReport& report)
      : tree_(tree), root_(tree.groups.front()), report_(report), had_unlimited_(unlimited_names()) {}

  void run() {
    choose_record();
    fix_axes();
    drop_empty();
  }

 private:
  std::set<std::string> unlimited_names() const {
    std::set<std::string> names;
    for (const Dimension& dimension : root_.dimensions)
      if (dimension.unlimited) names.insert(dimension.name);
    return names;
  }

  Dimension& dimension_of(const std::string& name) {
    const auto found = std::find_if(root_.dimensions.begin(), root_.dimensions.end(),
                                    [&](const Dimension& dimension) { return dimension.name == name; });
    CHUNKWISE_CHECK(found != root_.dimensions.end());
    return *found;
  }

  void choose_record() {
    std::set<std::string> inner;
    std::set<std::string> first;
    for (const ArrayNode& node : tree_.arrays)
      for (std::size_t axis = 0; axis < node.meta.dims.size(); ++axis)
        (axis == 0 ? first : inner).insert(node.meta.dims[axis]);
    const Dimension* record = nullptr;
    for (const bool used : {true, false})
      for (const Dimension& dimension : root_.dimensions)
        if (record == nullptr && dimension.unlimited && !inner.contains(dimension.name) &&
            first.contains(dimension.name) == used)
          record = &dimension;
    for (Dimension& dimension : root_.dimensions) {
      if (!dimension.unlimited || &dimension == record) continue;
      dimension.unlimited = false;
      const char* const why = inner.contains(dimension.name) ? "is not the first of a variable" : "is not the only one";
      report_.losses.push_back(
          {"/" + dimension.name, fmt::format("unlimited dimension that {}: in netCDF-3 it is fixed", why)});
    }
  }

  /// Axes get the length of their dimension, of which netCDF-4 may have stored less.
  void fix_axes() {
    for (ArrayNode& node : tree_.arrays) {
      ArrayMeta& meta = node.meta;
      const Shape stored = meta.shape;
      for (int axis = 0; axis < meta.shape.rank(); ++axis) {
        const Dimension& dimension = dimension_of(meta.dims[static_cast<std::size_t>(axis)]);
        meta.shape[axis] = dimension.length;
        const bool grew = meta.max_shape[axis] != stored[axis] && !had_unlimited_.contains(dimension.name);
        if (grew)
          report_.losses.push_back({meta.path, fmt::format("may grow to {} along {}: in netCDF-3 it is fixed",
                                                           meta.max_shape[axis], dimension.name)});
        meta.max_shape[axis] = dimension.unlimited ? kUnlimited : dimension.length;
      }
      if (meta.shape == stored) continue;
      gap_natives(node);
      if (meta.fill.empty())
        report_.losses.push_back(
            {meta.path, "has no fill value, but fewer records than its dimension: what lies beyond cannot be stored"});
    }
  }

  static void gap_natives(ArrayNode& node) {
    auto native = std::make_shared<ArrayNative>();
    native->has_gaps = true;
    node.native = std::move(native);
  }

  /// In a classic header, length 0 means unlimited.
  void drop_empty() {
    std::set<std::string> dropped;
    for (const Dimension& dimension : root_.dimensions)
      if (!dimension.unlimited && dimension.length == 0) {
        dropped.insert(dimension.name);
        report_.losses.push_back({"/" + dimension.name, "a fixed dimension of length 0 cannot be stored in netCDF-3"});
      }
    if (dropped.empty()) return;
    std::erase_if(root_.dimensions, [&](const Dimension& dimension) { return dropped.contains(dimension.name); });
    std::erase_if(tree_.arrays, [&](const ArrayNode& node) {
      const auto& dims = node.meta.dims;
      const auto found = std::find_if(dims.begin(), dims.end(), [&](const auto& dim) { return dropped.contains(dim); });
      if (found == dims.end()) return false;
      report_.losses.push_back({node.meta.path, fmt::format("lies along {}, which has length 0", *found)});
      return true;
    });
  }

  Hierarchy& tree_;
  GroupNode& root_;
  AdaptReport& report_;
  const std::set<std::string> had_unlimited_;
};

void adapt_layout(ArrayNode& node, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  if (meta.storage == Storage::chunked && meta.shape.rank() > 0)
    report.notes.push_back(fmt::format("{}: chunks {}{} become plain values, as netCDF-3 has no chunks", meta.path,
                                       to_string(meta.chunk),
                                       meta.codecs.empty() ? "" : " with " + to_string(meta.codecs)));
  meta.storage = Storage::contiguous;
  meta.codecs.clear();
  meta.layout = {};
  meta.layout.byte_order = ByteOrder::big;
  meta.pads_edges = false;
  meta.raw_edges = false;
  meta.chunk = linear_chunk(meta.shape, meta.dtype.bytes);
  meta.fill = fill_of(*find_type(meta.dtype), node.attributes);
}

std::string words_for(int version) {
  return version == 2 ? "CDF-2 (64-bit offset)" : "CDF-5 (64-bit data), which older readers do not know";
}

void note_version(const Hierarchy& tree, AdaptReport& report) {
  const Header header = plan_file(tree);
  const auto* native = dynamic_cast<const FileNative*>(tree.native.get());
  if (header.version == 1 || (native != nullptr && native->version == header.version)) return;
  bool has_type = false;
  for (const Variable& variable : header.variables) {
    if (!needs_cdf5(variable.type)) continue;
    has_type = true;
    report.notes.push_back(
        fmt::format("/{}: type {} needs {}", variable.name, dtype_of(variable.type).name(), words_for(5)));
  }
  if (!has_type)
    report.notes.push_back(
        fmt::format("sizes or attributes that CDF-1 cannot hold: written as {}", words_for(header.version)));
}

}  // namespace

Header plan_file(const Hierarchy& tree) {
  Header header;
  const GroupNode& root = tree.groups.front();
  header.dimensions = root.dimensions;
  header.attributes = root.attributes;
  for (const Dimension& dimension : header.dimensions)
    if (dimension.unlimited) header.n_records = static_cast<std::uint64_t>(dimension.length);
  std::vector<const ArrayNode*> arrays;
  for (const ArrayNode& node : tree.arrays) arrays.push_back(&node);
  std::stable_sort(arrays.begin(), arrays.end(), [](const auto* a, const auto* b) { return a->order < b->order; });
  for (const ArrayNode* node : arrays) {
    Variable variable;
    variable.name = base_name(node->meta.path);
    variable.attributes = node->attributes;
    variable.type = *find_type(node->meta.dtype);
    for (const std::string& dim : node->meta.dims) {
      const auto found = std::find_if(header.dimensions.begin(), header.dimensions.end(),
                                      [&](const Dimension& dimension) { return dimension.name == dim; });
      CHUNKWISE_CHECK(found != header.dimensions.end());
      variable.dimensions.push_back(static_cast<std::size_t>(found - header.dimensions.begin()));
    }
    header.variables.push_back(std::move(variable));
  }
  measure(header);
  header.version = least_version(header);
  if (const auto* native = dynamic_cast<const FileNative*>(tree.native.get()))
    header.version = std::max(header.version, native->version);
  return header;
}

void adapt(Hierarchy& tree, AdaptReport& report) {
  for (ArrayNode& node : tree.arrays) {
    auto native = std::make_shared<ArrayNative>();
    // Of what cannot be moved nothing is known.
    if (!node.meta.unsupported.empty()) continue;
    native->has_gaps = node.meta.n_stored_chunks < node.meta.grid().n_chunks();
    node.native = std::move(native);
  }
  adapt_contents(tree, report);
  adapt_dimensions(tree, true, report);
  RecordAdapter(tree, report).run();
  for (ArrayNode& node : tree.arrays) adapt_layout(node, report);
  note_version(tree, report);
}

void check(const Hierarchy& tree) {
  for (const ArrayNode& node : tree.arrays)
    if (node.meta.storage != Storage::contiguous || !node.meta.codecs.empty())
      throw Error(Code::unsupported, "netCDF-3 (classic) cannot be chunked or compressed",
                  "leave out -c and --codec, or write netCDF-4 with --to nc4")
          .in(node.meta.path);
}

}  // namespace chunkwise::netcdf3
