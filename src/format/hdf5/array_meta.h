// What an HDF5 dataset is and how it is stored, as an ArrayMeta.
#pragma once

#include <string>
#include <vector>

#include "array/meta.h"
#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

struct DatasetShape {
  ArrayMeta meta;
  bool null_space = false;               // H5S_NULL; then meta.shape is {0}
  std::vector<std::string> other_files;  // that its elements lie in
  haddr_t type_address = HADDR_UNDEF;    // of its type, if that is an object of the file
};

/// Reads all but the names of the axes. `dcpl` is the dataset's creation list, `path` the array's, for messages. A
/// type, layout or space that cannot be rechunked is named in meta.unsupported. Throws Error{corrupt}.
DatasetShape read_array_meta(const Lock& lock, hid_t dataset, const Hid& dcpl, const std::string& path);

}  // namespace chunkwise::hdf5
