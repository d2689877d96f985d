// Work on one plan by several processes: who does what.
#pragma once

#include <vector>

#include "rechunk/plan.h"

namespace chunkwise {

/// Part `number` of `count`, from 1.
struct Share {
  int number = 1;
  int count = 1;
};

/// True for arrays that are cut into shares. The others are left to whoever completes the target: elements that go one
/// by one, because their places in the target depend on each other, and what is stored inside the metadata.
bool is_shared(const ArrayPlan& plan, const ArrayMeta& target);

/// The boxes that a share is made of: whole tiles, and whole objects of the target, so that no two processes write one.
ChunkGrid boxes_of_shares(const ArrayPlan& plan, const ArrayMeta& target);

/// For every array of the plan the chunks that other shares do; empty for arrays that are not shared. Shares are runs
/// of boxes, in the order in which the plan takes them, of about equal size over all arrays together.
std::vector<std::vector<bool>> chunks_of_others(const Plan& plan, const std::vector<ArrayMeta>& targets,
                                                const Share& share);

/// The plan without the arrays that are shared, or without the others.
Plan only_shared(const Plan& plan, const std::vector<ArrayMeta>& targets);
Plan without_shared(const Plan& plan, const std::vector<ArrayMeta>& targets);

}  // namespace chunkwise
