#include "app/advise_rewrite.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/error.h"
#include "base/process_memory.h"
#include "rechunk/intermediate.h"
#include "rechunk/plan.h"
#include "rechunk/price.h"

namespace chunkwise {
namespace {

/// Reads and writes that `rechunk` has under way at one time.
constexpr double kAtOnce = 8;

/// Seconds on the device for so many bytes in so many pieces.
double device_seconds(const Device& device, double bytes, double n_pieces, bool objects) {
  const double each_s = device.chunk_s + (objects ? device.access_s + device.object_s : 0.0);
  return bytes / std::min(device.total_Bps.value, kAtOnce * device.stream_Bps.value) + n_pieces * each_s / kAtOnce;
}

}  // namespace

BreakEven break_even(double seconds, const std::vector<AccessPattern>& patterns, const std::vector<double>& from_s,
                     const std::vector<double>& to_s) {
  BreakEven result;
  double gain_s = 0;
  double most_s = 0;
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const double gains_s = patterns[p].weight * (from_s[p] - to_s[p]);
    gain_s += gains_s;
    if (gains_s <= most_s) continue;
    most_s = gains_s;
    result.pattern = p;
  }
  if (gain_s > 0) result.reads = std::ceil(seconds / gain_s * patterns[result.pattern].weight);
  return result;
}

std::optional<AdviseReport::Rewrite> rewrite_cost(const AdviseReport::Variable& variable,
                                                  const AdviseReport::Layout& layout, bool to_objects,
                                                  const Question& question) {
  if (!layout.chunk || !variable.meta.unsupported.empty()) return std::nullopt;
  ArrayMeta target = variable.target;
  target.storage = Storage::chunked;
  target.chunk = *layout.chunk;
  target.codecs = layout.codecs;
  target.shards.clear();
  if (layout.shard) {
    ShardLevel level;
    level.shape = *layout.shard;
    target.shards.push_back(level);
  }
  PlanRequest request;
  request.memory_bytes = available_memory_bytes() / 2;
  request.base_bytes = resident_bytes();
  request.n_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  AdviseReport::Rewrite rewrite;
  rewrite.n_threads = request.n_threads;
  rewrite.free_bytes = layout.size_bytes;
  try {
    const Plan plan = make_plan({{&variable.meta, &target}}, request);
    const ArrayPlan& array = plan.arrays.front();
    if (array.kind != ArrayPlan::Kind::rewrite) return std::nullopt;
    rewrite.n_threads = plan.n_threads;
    rewrite.passes = array.passes;
    const auto decoded = static_cast<double>(array.decoded_bytes);
    const auto n_reads = static_cast<double>(array.n_source_reads);
    const auto n_writes = static_cast<double>(array.n_target_chunks);
    const Device& device = question.device;
    const bool from_objects = variable.meta.storage == Storage::chunked && variable.in_objects;
    const double n_units = to_objects ? layout.n_objects : n_writes;
    const double device_s = device_seconds(device, static_cast<double>(array.read_bytes), n_reads, from_objects) +
                            device_seconds(device, layout.size_bytes, n_units, to_objects);
    const double cores_s = decoding_s(variable.meta.codecs, decoded * array.passes, n_reads) +
                           encoding_s(target.codecs, decoded, n_writes);
    rewrite.seconds = std::max(device_s, cores_s / plan.n_threads);
  } catch (const Error&) {  // too little memory, codecs nobody can run: rechunk says so
    return std::nullopt;
  }
  return rewrite;
}

}  // namespace chunkwise
