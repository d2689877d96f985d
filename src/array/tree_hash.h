// One number for all that a hierarchy says.
#pragma once

#include <cstdint>

#include "array/hierarchy.h"

namespace chunkwise {

/// XXH3 over groups, dimensions, attributes, arrays and their layouts, links, and how many chunks of how many bytes are
/// stored. The same on every machine and in every run. What only natives know is left out.
std::uint64_t tree_hash(const Hierarchy& tree);

}  // namespace chunkwise
