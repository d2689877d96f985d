// From a hierarchy to the header of the file that will hold it.
#pragma once

#include "array/dataset.h"
#include "format/netcdf3/header.h"

namespace chunkwise::netcdf3 {

/// The measured header of an adapted hierarchy, in the least version that can hold it; a hierarchy that comes from a
/// classic file keeps its version if that is later. Throws Error{unsupported} beyond 2^63 bytes.
Header plan_file(const Hierarchy& tree);

/// Takes away, as losses, what no classic file can hold: groups, links, types, attributes.
void adapt_contents(Hierarchy& tree, AdaptReport& report);

}  // namespace chunkwise::netcdf3
