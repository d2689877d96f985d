// The steps of adapting a hierarchy to HDF5 or netCDF-4.
#pragma once

#include "array/dataset.h"
#include "array/dimensions.h"

namespace chunkwise::hdf5 {

/// Leaves out (as losses) what the target has no type or name for, and brings attributes into forms it has.
void adapt_contents(Hierarchy& tree, bool netcdf, AdaptReport& report);
/// C order, chunks and storage HDF5 allows, and codecs that every HDF5 library has.
void adapt_layouts(Hierarchy& tree, AdaptReport& report);

}  // namespace chunkwise::hdf5
