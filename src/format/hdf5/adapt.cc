#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "format/hdf5/adapt_parts.h"
#include "format/hdf5/format.h"
#include "format/hdf5/native.h"

namespace chunkwise::hdf5 {
namespace {

/// Hard links to objects that were left out have nothing to link to.
void drop_dangling_links(Hierarchy& tree, AdaptReport& report) {
  std::set<std::string> paths;
  for (const GroupNode& group : tree.groups) {
    paths.insert(group.path);
    if (const auto* native = dynamic_cast<const GroupNative*>(group.native.get()))
      for (const ScaleNative& scale : native->scales)
        if (!scale.is_array) paths.insert(scale.path);
  }
  for (const ArrayNode& array : tree.arrays) paths.insert(array.meta.path);
  for (const TypeNode& type : tree.types) paths.insert(type.path);
  std::erase_if(tree.links, [&](const LinkNode& link) {
    if (link.kind != LinkNode::Kind::hard || paths.contains(link.target)) return false;
    report.notes.push_back(fmt::format("{}: left out, as {} is", link.path, link.target));
    return true;
  });
}

bool fits_classic_model(const Hierarchy& tree) {
  return tree.groups.size() == 1 && tree.types.empty() &&
         std::all_of(tree.arrays.begin(), tree.arrays.end(), [](const ArrayNode& node) {
           const DType& dtype = node.meta.dtype;
           return (dtype.kind == DType::Kind::int_ && dtype.bytes <= 4 && dtype.names.empty()) ||
                  dtype.kind == DType::Kind::float_ || (dtype.kind == DType::Kind::text && dtype.bytes == 1);
         });
}

std::string list_files(const std::vector<std::string>& files) {
  if (files.empty()) return "this file";
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

/// Virtual datasets stay what they are; elements in raw files come into the file.
void note_elsewhere(Hierarchy& tree, AdaptReport& report) {
  for (ArrayNode& node : tree.arrays) {
    const auto* native = dynamic_cast<const ArrayNative*>(node.native.get());
    if (native == nullptr) continue;
    ArrayMeta& meta = node.meta;
    if (meta.storage == Storage::virtual_ && !native->other_files.empty())
      report.notes.push_back(
          fmt::format("{}: virtual, and stays so; it maps {}, to be found from the folder of the target", meta.path,
                      list_files(native->other_files)));
    if (!native->has_raw_files()) continue;
    report.notes.push_back(fmt::format("{}: its elements, which lie in {}, are stored in the target", meta.path,
                                       list_files(native->other_files)));
    if (meta.shape == meta.max_shape) continue;
    meta.storage = Storage::chunked;  // only with raw files may it grow without
    meta.pads_edges = true;
    report.notes.push_back(fmt::format("{}: chunked {}, as an axis may grow", meta.path, to_string(meta.chunk)));
  }
}

void adapt(Hierarchy& tree, bool netcdf, AdaptReport& report) {
  if (copied_from(tree, netcdf) != nullptr) {
    note_elsewhere(tree, report);
    return drop_dangling_links(tree, report);
  }
  // Classic files know one byte order only; HDF5 files have that of the machines that read them.
  if (tree.format == "nc3")
    for (ArrayNode& node : tree.arrays) set_byte_order(node.meta, ByteOrder::little);
  adapt_contents(tree, netcdf, report);
  adapt_dimensions(tree, netcdf, report);
  adapt_layouts(tree, report);
  if (!fits_classic_model(tree)) tree.classic_model = false;
}

}  // namespace

void adapt_nc4(Hierarchy& tree, AdaptReport& report) {
  adapt(tree, true, report);
}
void adapt_h5(Hierarchy& tree, AdaptReport& report) {
  adapt(tree, false, report);
}

}  // namespace chunkwise::hdf5
