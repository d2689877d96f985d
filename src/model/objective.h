// What a layout is judged by, over its accesses.
#pragma once

#include <span>
#include <string_view>

#include "model/cost.h"
#include "model/pattern.h"

namespace chunkwise {

enum class Objective {
  weighted,  // sum of weight * seconds
  worst,     // seconds of the slowest access
  p95,       // seconds within which accesses of 95 % of the weight end
  cost,      // sum of weight * price of the requests and bytes
};

struct Goal {
  Objective objective = Objective::weighted;
  double price_per_request = 0;
  double price_per_byte = 0;

  double value(const Cost& cost) const;
  /// Of one value for each access. Never falls where a value rises.
  double combine(std::span<const double> values, std::span<const AccessPattern> patterns) const;
};

struct ObjectiveRow {
  std::string_view name;
  Objective objective;
};
std::span<const ObjectiveRow> objective_rows();

}  // namespace chunkwise
