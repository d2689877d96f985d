#include "app/predict.h"

#include "model/device.h"
#include "rechunk/price.h"

namespace chunkwise {
namespace {

double seconds_of(const RechunkReport::Variable& variable, int n_threads, const Device& device) {
  const ArrayPlan& plan = variable.plan;
  switch (plan.kind) {
    case ArrayPlan::Kind::nothing:
      return 0;
    case ArrayPlan::Kind::rewrite:
      break;
    case ArrayPlan::Kind::copy_chunks:
    case ArrayPlan::Kind::elements:
    case ArrayPlan::Kind::by_format:  // in and out, as they are stored
      return 2 * static_cast<double>(plan.read_bytes) / device.total_Bps +
             static_cast<double>(plan.n_source_reads + plan.n_target_chunks) * device.chunk_s / n_threads;
  }
  if (plan.intermediate)
    return price_of_intermediate(variable.source, variable.target, plan, *plan.intermediate, n_threads);
  return price_of_passes(variable.source, variable.target, plan, n_threads);
}

}  // namespace

void predict(RechunkReport& report) {
  const Device& device = find_device(kDefaultDevice);
  report.predicted_for = device.name;
  report.error_factor = device.error_factor;
  report.predicted_seconds = 0;
  for (const RechunkReport::Variable& variable : report.variables)
    report.predicted_seconds += seconds_of(variable, report.plan.n_threads, device);
}

}  // namespace chunkwise
