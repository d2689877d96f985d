// The filter pipeline of a creation list, as codecs.
#pragma once

#include <string>

#include "array/meta.h"
#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// The filters of a creation list. Those without a codec of ours become "hdf5-<id>" with `cd`, `flags` and `label`.
/// Elements that refer (DType::refers) only the library encodes, and it leaves filters without the parameters they
/// need; those too are kept as they are.
CodecSpecs read_filters(const Lock& lock, hid_t dcpl, bool refers);

/// Throws Error{unsupported} naming a filter that the library itself cannot run.
void require_filters(const Lock& lock, const CodecSpecs& codecs);

/// Makes the pipeline of a creation list that of meta.codecs. Filters it has already keep their flags, optional or
/// mandatory. Throws Error{unsupported} for a codec without HDF5 filter.
void set_filters(const Lock& lock, hid_t dcpl, const ArrayMeta& meta);

/// H5Dcreate sets the parameters of some filters itself. Throws Error{unsupported} naming the filter if the new dataset
/// has others than the creation list it was made with, so that its chunks would be decoded otherwise.
void check_filters(const Lock& lock, hid_t dataset, hid_t dcpl);

/// The number in a codec's name "hdf5-<id>"; 0 for other names.
int foreign_filter_id(const std::string& codec_name);

}  // namespace chunkwise::hdf5
