// Where intermediate arrays of a rewrite may lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/rechunk.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// The folder that a target of this name lies in; "." if the name says none.
std::string folder_of_target(const std::string& target);

/// The folder of --scratch, or else the one that the target will lie in, with what is free there beside what the target
/// is expected to take. Nothing for `none`, and where it is not known. Throws Error{not_found}, Error{usage} for a
/// folder that is named and is none. Writes nothing.
std::optional<ScratchSpace> scratch_space(const RechunkRequest& request, const std::vector<PlanInput>& arrays);

}  // namespace chunkwise
