#include "app/predict.h"

#include <algorithm>

#include "rechunk/price.h"

namespace chunkwise {
namespace {
constexpr double kCopy_s_per_byte = 1 / 4e9;  // one strided pass over memory
}  // namespace

double predict_seconds(const RechunkReport& report) {
  double work_s = 0;
  for (const RechunkReport::Variable& variable : report.variables) {
    const ArrayPlan& plan = variable.plan;
    const double bytes = static_cast<double>(plan.decoded_bytes);
    if (plan.kind == ArrayPlan::Kind::copy_chunks)
      work_s += static_cast<double>(plan.read_bytes) * 2 * kCopy_s_per_byte;
    if (plan.kind != ArrayPlan::Kind::rewrite) continue;
    work_s += decoding_s(variable.source.codecs, bytes * plan.passes, static_cast<double>(plan.n_source_reads));
    work_s += encoding_s(variable.target.codecs, bytes, static_cast<double>(plan.n_target_chunks));
    if (!plan.intermediate) continue;
    const auto n_boxes = static_cast<double>(plan.intermediate->boxes.n_boxes());
    work_s += encoding_s(plan.intermediate->meta.codecs, bytes, n_boxes) +
              decoding_s(plan.intermediate->meta.codecs, bytes, n_boxes);
  }
  return work_s / std::max(1, report.plan.n_threads);
}

}  // namespace chunkwise
