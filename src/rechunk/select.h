// Which variables of a dataset take part.
#pragma once

#include <string>
#include <vector>

#include "array/hierarchy.h"

namespace chunkwise {

/// Indexes into tree.arrays of the variables a name means: its full path ("/g/T"), its path without the leading slash,
/// or its last part (every variable of that name in any group). Throws Error{usage} with a suggestion if there is none.
std::vector<std::size_t> find_variables(const Hierarchy& tree, const std::string& name);

/// Keeps `keep` (all if empty) and what they need to be understood: coordinate variables, that is 1-D variables named
/// like a dimension of a kept one, in its group or above; then drops `exclude`. Groups, dimensions and links to kept
/// objects stay. Unsupported nodes that `exclude` names, or that lie outside `keep`, are dropped as well.
void select_variables(Hierarchy& tree, const std::vector<std::string>& keep, const std::vector<std::string>& exclude);

}  // namespace chunkwise
