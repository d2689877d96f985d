// What the reader remembers of a file, for writing another HDF5 file without loss.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Of Hierarchy::native.
struct FileNative : Native {
  std::shared_ptr<File> file;
  /// An attribute passes 64 KiB on an object that does not track their order: only files of version 1.8 hold that.
  bool has_large_attributes = false;
};

/// A dataset that stands for a dimension.
struct ScaleNative {
  std::string name;  // of the dimension
  std::string path;  // in the file
  haddr_t address = HADDR_UNDEF;
  std::uint64_t order = 0;
  bool is_array = false;  // a coordinate variable; false: "a netCDF dimension but not a netCDF variable"
  std::optional<int> dimension_id;
};

/// Of GroupNode::native.
struct GroupNative : Native {
  std::shared_ptr<File> file;
  haddr_t address = HADDR_UNDEF;
  std::vector<ScaleNative> scales;
};

/// Of ArrayNode::native.
struct ArrayNative : Native {
  std::shared_ptr<File> file;
  std::string path;  // in the file; the array's own path may hide a netCDF prefix
  haddr_t address = HADDR_UNDEF;
  ArrayMeta meta;                        // as it is in the file
  bool null_space = false;               // no elements, not even none: H5S_NULL
  std::vector<std::string> other_files;  // raw files with its elements, or files that it maps (Storage::virtual_)
  bool has_raw_files() const { return meta.storage != Storage::virtual_ && !other_files.empty(); }
};

/// Of TypeNode::native.
struct TypeNative : Native {
  std::shared_ptr<File> file;
  haddr_t address = HADDR_UNDEF;
};

/// Of Attribute::native, of those whose value is still the one in the file.
struct AttributeNative : Native {};

/// The HDF5 file `tree` was read from if a target is to be written by copying its objects as they are, hidden ones
/// included; else null. netCDF-4 copies only netCDF-4, as others lack what it needs.
inline const FileNative* copied_from(const Hierarchy& tree, bool to_netcdf) {
  const auto* native = dynamic_cast<const FileNative*>(tree.native.get());
  return to_netcdf && tree.format != "nc4" ? nullptr : native;
}

}  // namespace chunkwise::hdf5
