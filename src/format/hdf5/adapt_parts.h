// The steps of adapting a hierarchy to HDF5 or netCDF-4.
#pragma once

#include <string_view>

#include "array/dataset.h"

namespace chunkwise::hdf5 {

/// Leaves out (as losses) what the target has no type or name for, and brings attributes into forms it has.
void adapt_contents(Hierarchy& tree, bool netcdf, AdaptReport& report);
/// Names every axis that needs it, defines the dimensions named, and makes lengths agree.
void adapt_dimensions(Hierarchy& tree, bool netcdf, AdaptReport& report);
/// C order, chunks and storage HDF5 allows, and codecs that every HDF5 library has.
void adapt_layouts(Hierarchy& tree, AdaptReport& report);

/// True if an axis of `length` elements can lie along the dimension. An axis means the nearest dimension of its name,
/// in its group or above, that suits it.
bool suits(const Dimension& dimension, Index length);

/// True if HDF5 (netCDF-C) takes this as the name of an object.
bool is_valid_name(std::string_view name, bool netcdf);

}  // namespace chunkwise::hdf5
