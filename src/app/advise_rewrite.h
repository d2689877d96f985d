// What a rewrite into a layout takes, and when it pays.
#pragma once

#include "app/advise_question.h"

namespace chunkwise {

/// Of the variable into `layout`, as `target` would store it, with all cores and half of the memory that is free, on
/// the question's device. Nothing where nobody can rewrite it, or where that takes more memory.
std::optional<AdviseReport::Rewrite> rewrite_cost(const AdviseReport::Variable& variable,
                                                  const AdviseReport::Layout& layout, bool to_objects,
                                                  const Question& question);

/// The pattern that gains most from one layout to another, and how many reads of it, with the others in their
/// proportion, gain `seconds`. 0 reads: they never do.
struct BreakEven {
  std::size_t pattern = 0;
  double reads = 0;
};
BreakEven break_even(double seconds, const std::vector<AccessPattern>& patterns, const std::vector<double>& from_s,
                     const std::vector<double>& to_s);

}  // namespace chunkwise
