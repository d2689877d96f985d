// Fill values that refer to objects.
#pragma once

#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// True if the fill value of the dataset at `path` holds a reference that is not null. Such a value is the address of
/// an object, and a dataset gets its fill value when it is made, before the object may stand in the target.
bool has_reference_fill(const Lock& lock, const File& file, const std::string& path);

}  // namespace chunkwise::hdf5
