// A rewrite before anything is written: the request understood, the source opened, the target and the plan made up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/rechunk.h"
#include "array/dataset.h"
#include "format/registry.h"
#include "rechunk/layout.h"
#include "rechunk/plan.h"

namespace chunkwise {

struct OpenedRequest {
  LayoutRequest layout;
  const FormatRow* from = nullptr;
  const FormatRow* to = nullptr;
  std::unique_ptr<Reader> reader;
};

/// Reads the request's words and opens the source. Fills names and formats of `report`. Throws what rechunk() throws.
OpenedRequest open_request(const RechunkRequest& request, RechunkReport& report);

struct PlannedRewrite {
  Hierarchy tree;  // of the target
  std::vector<ArrayMeta> sources;
  std::vector<ArrayMeta> targets;
  Plan plan;
  int n_threads_asked = 1;  // the plan may have fewer, where the memory is short
};

/// What decides about the tiles beside the arrays.
struct PlanMemory {
  std::uint64_t memory_bytes = 0;
  std::uint64_t base_bytes = 0;
  int n_threads = 1;
};

/// Makes up the target and the plan; refuses what would be lost. `fixed`: the memory that a plan was made for which
/// this process takes part in. Completes what `report` says before the run. Throws what rechunk() throws.
PlannedRewrite plan_rewrite(const RechunkRequest& request, const OpenedRequest& opened, const RechunkObserver& observer,
                            const std::optional<PlanMemory>& fixed, RechunkReport& report);

}  // namespace chunkwise
