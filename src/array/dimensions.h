// Dimensions as the netCDF family and HDF5's dimension scales have them: every axis lies along a named one.
#pragma once

#include <string_view>

#include "array/dataset.h"

namespace chunkwise {

/// Names every axis that needs it, defines the dimensions named, and makes lengths agree. `netcdf`: names are those
/// netCDF-C takes, and every axis needs one.
void adapt_dimensions(Hierarchy& tree, bool netcdf, AdaptReport& report);

/// True if an axis of `length` elements can lie along the dimension. An axis means the nearest dimension of its name,
/// in its group or above, that suits it.
bool suits(const Dimension& dimension, Index length);

/// True if HDF5 (netCDF-C) takes this as the name of an object.
bool is_valid_name(std::string_view name, bool netcdf);

}  // namespace chunkwise
