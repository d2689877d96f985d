// What an HDF5 dataset is and how it is stored, as an ArrayMeta.
#pragma once

#include <string>

#include "array/meta.h"
#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

struct DatasetShape {
  ArrayMeta meta;
  bool null_space = false;  // H5S_NULL; then meta.shape is {0}
};

/// Reads all but the names of the axes. `path` is the array's, for messages. A type, layout or space that cannot be
/// rechunked is named in meta.unsupported. Throws Error{corrupt}.
DatasetShape read_array_meta(const Lock& lock, hid_t dataset, const std::string& path);

/// The filters of a creation list. Those without a codec of ours become "hdf5-<id>" with `cd`, `flags` and `label`.
CodecSpecs read_filters(const Lock& lock, hid_t dcpl);

/// Appends the filters of `codecs`. Throws Error{unsupported} for a codec without HDF5 filter.
void add_filters(const Lock& lock, hid_t dcpl, const ArrayMeta& meta);

/// The number in a codec's name "hdf5-<id>"; 0 for other names.
int foreign_filter_id(const std::string& codec_name);

}  // namespace chunkwise::hdf5
