// A walk over all objects of an HDF5 file.
#pragma once

#include "format/hdf5/file.h"
#include "format/hdf5/records.h"

namespace chunkwise::hdf5 {

/// Visits links in creation order where a group tracked it, else by name. Throws Error{corrupt}, and Error{unsupported}
/// for groups nested deeper than 1000.
FileRecords walk(const Lock& lock, const File& file);

}  // namespace chunkwise::hdf5
