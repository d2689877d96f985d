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
  std::erase_if(tree.links, [&](const LinkNode& link) {
    if (link.kind != LinkNode::Kind::hard || paths.contains(link.target)) return false;
    report.notes.push_back(fmt::format("{}: left out, as {} is", link.path, link.target));
    return true;
  });
}

bool fits_classic_model(const Hierarchy& tree) {
  return tree.groups.size() == 1 && std::all_of(tree.arrays.begin(), tree.arrays.end(), [](const ArrayNode& node) {
           const DType& dtype = node.meta.dtype;
           return (dtype.kind == DType::Kind::int_ && dtype.bytes <= 4) || dtype.kind == DType::Kind::float_ ||
                  (dtype.kind == DType::Kind::text && dtype.bytes == 1);
         });
}

void adapt(Hierarchy& tree, bool netcdf, AdaptReport& report) {
  if (copied_from(tree, netcdf) != nullptr) return drop_dangling_links(tree, report);
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
