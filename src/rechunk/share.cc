#include "rechunk/share.h"

#include <algorithm>

namespace chunkwise {
namespace {

template <typename Keep>
Plan only(const Plan& plan, const std::vector<ArrayMeta>& targets, Keep&& keep) {
  Plan result = plan;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    ArrayPlan& array = result.arrays[i];
    if (keep(array, targets[i])) continue;
    array.kind = ArrayPlan::Kind::nothing;
    array.decoded_bytes = 0;
  }
  return result;
}

}  // namespace

bool is_shared(const ArrayPlan& plan, const ArrayMeta& target) {
  return (plan.kind == ArrayPlan::Kind::rewrite || plan.kind == ArrayPlan::Kind::copy_chunks) &&
         target.storage != Storage::compact;
}

ChunkGrid boxes_of_shares(const ArrayPlan& plan, const ArrayMeta& target) {
  if (plan.kind == ArrayPlan::Kind::copy_chunks) return {target.shape, target.unit()};
  return {target.shape, target.shards.empty() ? plan.tile : plan.block};
}

std::vector<std::vector<bool>> chunks_of_others(const Plan& plan, const std::vector<ArrayMeta>& targets,
                                                const Share& share) {
  double total_bytes = 0;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (is_shared(plan.arrays[i], targets[i])) total_bytes += static_cast<double>(plan.arrays[i].decoded_bytes);
  std::vector<std::vector<bool>> others(targets.size());
  double bytes_before = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const ArrayPlan& array = plan.arrays[i];
    if (!is_shared(array, targets[i])) continue;
    const ChunkGrid chunks = targets[i].grid();
    const ChunkGrid boxes = boxes_of_shares(array, targets[i]);
    const double box_bytes = static_cast<double>(array.decoded_bytes) / static_cast<double>(boxes.n_chunks());
    others[i].assign(static_cast<std::size_t>(chunks.n_chunks()), true);
    for (Index box = 0; box < boxes.n_chunks(); ++box) {
      // The middle of a box decides, so that rounding never does.
      const double middle = (bytes_before + (static_cast<double>(box) + 0.5) * box_bytes) / total_bytes;
      const int number = std::clamp(static_cast<int>(middle * share.count) + 1, 1, share.count);
      if (number != share.number) continue;
      for (const ChunkId id : chunks.overlapping(boxes.box(ChunkId{box})))
        others[i][static_cast<std::size_t>(linear(id))] = false;
    }
    bytes_before += static_cast<double>(array.decoded_bytes);
  }
  return others;
}

Plan only_shared(const Plan& plan, const std::vector<ArrayMeta>& targets) {
  return only(plan, targets, [](const ArrayPlan& array, const ArrayMeta& target) { return is_shared(array, target); });
}

Plan without_shared(const Plan& plan, const std::vector<ArrayMeta>& targets) {
  return only(plan, targets, [](const ArrayPlan& array, const ArrayMeta& target) { return !is_shared(array, target); });
}

}  // namespace chunkwise
