// What the reader remembers of a file, for writing another HDF5 file without loss.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/attribute.h"
#include "array/meta.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Of Hierarchy::native.
struct FileNative : Native {
  std::shared_ptr<File> file;
  /// An attribute does not fit an object header message (64 KiB): only files of version 1.8 and up hold it.
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
  ArrayMeta meta;           // as it is in the file
  bool null_space = false;  // no elements, not even none: H5S_NULL
};

/// Of Attribute::native.
struct AttributeNative : Native {
  std::shared_ptr<File> file;
  std::string object_path;
};

}  // namespace chunkwise::hdf5
