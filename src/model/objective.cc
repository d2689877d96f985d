#include "model/objective.h"

#include <algorithm>
#include <array>
#include <limits>

namespace chunkwise {

std::span<const ObjectiveRow> objective_rows() {
  static constexpr std::array<ObjectiveRow, 4> kRows = {{{"weighted", Objective::weighted},
                                                         {"worst", Objective::worst},
                                                         {"p95", Objective::p95},
                                                         {"cost", Objective::cost}}};
  return kRows;
}

double Goal::value(const Cost& cost) const {
  if (objective != Objective::cost) return cost.seconds;
  return (cost.requests.requests + cost.requests.index_reads) * price_per_request +
         cost.requests.bytes * price_per_byte;
}

double Goal::combine(std::span<const double> values, std::span<const AccessPattern> patterns) const {
  if (objective == Objective::worst) return *std::max_element(values.begin(), values.end());
  if (objective != Objective::p95) {
    double sum = 0;
    for (std::size_t p = 0; p < values.size(); ++p) sum += patterns[p].weight * values[p];
    return sum;
  }
  double all = 0;
  for (const auto& pattern : patterns) all += pattern.weight;
  // The least value that accesses of 95 % of the weight do not pass.
  double best = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    double below = 0;
    for (std::size_t p = 0; p < values.size(); ++p) below += values[p] <= value ? patterns[p].weight : 0.0;
    if (below >= 0.95 * all * (1 - 1e-12)) best = std::min(best, value);
  }
  return best;
}

}  // namespace chunkwise
