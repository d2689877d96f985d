// Names of HDF5 filters, also of those nobody here can decode.
#pragma once

#include <string_view>

namespace chunkwise {

/// The common name of a filter of the library or of the HDF Group's list of registered filters; empty if unknown.
std::string_view filter_name(int filter);

}  // namespace chunkwise
