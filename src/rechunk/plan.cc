#include "rechunk/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "array/element_change.h"
#include "base/error.h"
#include "base/sizes.h"
#include "rechunk/intermediate.h"
#include "rechunk/passes.h"
#include "rechunk/price.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

/// Of the memory for tiles at most this part goes into an index of boxes.
constexpr std::uint64_t kIndexShare = 4;

/// An array of chunks that the memory makes it necessary to read more than once.
bool is_read_again(const PlanInput& input, const ArrayPlan& plan) {
  constexpr double kOnce = 1.001;
  return plan.kind == ArrayPlan::Kind::rewrite && input.source->storage != Storage::contiguous && plan.passes > kOnce;
}

/// A plan that leaves memory for intermediates, and beside its arrays the same ones through an intermediate, where that
/// can be done.
struct WithIntermediates {
  Plan plan;
  std::vector<ArrayPlan> through;
};

/// For all arrays that are read again. Nothing if there is no memory for boxes.
std::optional<WithIntermediates> plan_intermediates(const std::vector<PlanInput>& arrays, const PlanRequest& request,
                                                    const Plan& passes) {
  Reserve reserve;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!is_read_again(arrays[i], passes.arrays[i])) continue;
    const BoxNeeds needs = needs_of_boxes(arrays[i].target->dtype.bytes);
    reserve.worker = largest(reserve.worker, needs.worker);
    reserve.largest_read_bytes = std::max(reserve.largest_read_bytes, needs.largest_read_bytes);
  }
  // How large the index is follows from the tiles, and their room from the index.
  for (int attempt = 0; attempt < 4; ++attempt) {
    WithIntermediates result;
    try {
      result.plan = plan_passes(arrays, request, reserve);
    } catch (const Error& e) {
      if (e.code() != Code::budget) throw;
      return std::nullopt;
    }
    Plan& plan = result.plan;
    result.through = plan.arrays;
    std::uint64_t index_bytes = 0;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!is_read_again(arrays[i], passes.arrays[i])) continue;
      ArrayPlan& array = result.through[i];
      const IntermediateRequest through{*arrays[i].source,
                                        *arrays[i].target,
                                        plan.tile_room_bytes,
                                        plan.shards_bytes,
                                        plan.tile_room_bytes / kIndexShare,
                                        plan.n_threads,
                                        request.scratch->free_bytes};
      if (!go_through_intermediate(through, array)) continue;
      const IntermediatePlan& intermediate = *array.intermediate;
      index_bytes = std::max(index_bytes, intermediate.index_bytes);
      for (const std::uint64_t bytes :
           {saturating_mul(useful_tiles(*arrays[i].source, intermediate.meta, intermediate.fill, plan.n_threads),
                           intermediate.fill.tile_bytes),
            saturating_mul(useful_tiles(intermediate.meta, *arrays[i].target, array, plan.n_threads),
                           array.tile_bytes)})
        plan.tiles_bytes = std::min(plan.tile_room_bytes, std::max(plan.tiles_bytes, bytes));
    }
    if (index_bytes <= reserve.index_bytes) return result;
    reserve.index_bytes = index_bytes + index_bytes / 4;
  }
  return std::nullopt;
}

/// Both ways for one array, and why which is taken.
std::vector<PlanChoice> weigh(const PlanInput& input, const Plan& passes, const ArrayPlan& again,
                              const ArrayPlan* through, int n_threads, const ScratchSpace& scratch) {
  PlanChoice by_passes;
  by_passes.passes = again.passes;
  by_passes.read_bytes = again.read_bytes;
  by_passes.seconds = price_of_passes(*input.source, *input.target, again, passes.n_threads);
  PlanChoice by_intermediate;
  by_intermediate.by_intermediate = true;
  if (through == nullptr) {
    by_intermediate.why_not = "the memory does not suffice";
    return {by_passes, by_intermediate};
  }
  const IntermediatePlan& intermediate = *through->intermediate;
  by_intermediate.passes = through->passes;
  by_intermediate.read_bytes = through->read_bytes;
  by_intermediate.scratch_bytes = intermediate.scratch_bytes;
  by_intermediate.seconds = price_of_intermediate(*input.source, *input.target, *through, intermediate, n_threads);
  // Reading is bounded by what one intermediate takes, also where writing it would cost a little more.
  const bool reads_less = through->read_bytes + intermediate.scratch_bytes < again.read_bytes;
  if (!reads_less && by_intermediate.seconds >= by_passes.seconds) {
    by_intermediate.why_not = "takes longer";
    return {by_passes, by_intermediate};
  }
  if (intermediate.scratch_bytes > scratch.free_bytes) {
    by_intermediate.why_not =
        fmt::format("needs {} of scratch space, '{}' has {}", format_bytes(intermediate.scratch_bytes), scratch.folder,
                    format_bytes(scratch.free_bytes));
    if (scratch.is_required)
      throw Error(
          Code::io,
          fmt::format("{}: an intermediate array of {} does not fit into '{}', which has {} free", input.target->path,
                      format_bytes(intermediate.scratch_bytes), scratch.folder, format_bytes(scratch.free_bytes)),
          fmt::format("name another folder with --scratch, give more --memory, or --scratch none to read the "
                      "source {:.1f} times",
                      again.passes));
    return {by_passes, by_intermediate};
  }
  by_passes.why_not = by_passes.seconds > by_intermediate.seconds ? "takes longer" : "reads more bytes";
  return {by_intermediate, by_passes};
}

}  // namespace

std::vector<std::byte> fill_in_order(const ArrayMeta& meta, ByteOrder order) {
  if (meta.fill.empty()) return std::vector<std::byte>(meta.dtype.bytes);
  std::vector<std::byte> fill = meta.fill;
  if (order != meta.layout.byte_order) swap_words(meta.dtype, fill);
  return fill;
}

std::vector<std::byte> fill_as(const ArrayMeta& source, const ArrayMeta& target) {
  const ElementChange change(source, target);
  if (change.empty()) return fill_in_order(source, target.layout.byte_order);
  std::vector<std::byte> fill = fill_in_order(source, source.layout.byte_order);
  change.apply(fill);
  return fill;
}

Plan make_plan(const std::vector<PlanInput>& arrays, const PlanRequest& request) {
  Plan passes = plan_passes(arrays, request, {});
  bool any_again = false;
  for (std::size_t i = 0; i < arrays.size(); ++i) any_again = any_again || is_read_again(arrays[i], passes.arrays[i]);
  if (!any_again || !request.scratch) return passes;
  std::optional<WithIntermediates> other = plan_intermediates(arrays, request, passes);
  bool any_through = false;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ArrayPlan& again = passes.arrays[i];
    if (!is_read_again(arrays[i], again)) continue;
    const ArrayPlan* through = other && other->through[i].intermediate ? &other->through[i] : nullptr;
    again.choices = weigh(arrays[i], passes, again, through, other ? other->plan.n_threads : 1, *request.scratch);
    if (!other) continue;
    ArrayPlan& array = other->plan.arrays[i];
    if (again.choices.front().by_intermediate) {
      array = *through;
      any_through = true;
    }
    array.choices = again.choices;
  }
  if (!any_through) return passes;
  other->plan.scratch_folder = request.scratch->folder;
  return std::move(other->plan);
}

}  // namespace chunkwise
