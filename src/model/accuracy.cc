// Predictions against measurements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "model/timings.h"

namespace chunkwise {
namespace {

/// The rows of one pattern, or all.
std::vector<std::size_t> rows_of(const Timings& timings, const std::string* pattern) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < timings.rows.size(); ++i) {
    if (pattern == nullptr || timings.rows[i].pattern == *pattern) rows.push_back(i);
  }
  return rows;
}

Accuracy errors_of(const Timings& timings, const std::vector<Cost>& costs, const std::vector<std::size_t>& rows) {
  Accuracy accuracy;
  accuracy.n = rows.size();
  std::vector<double> apes;
  std::size_t n_within = 0;
  for (const std::size_t i : rows) {
    const double measured = timings.rows[i].wall_s;
    const double predicted = costs[i].seconds;
    apes.push_back(std::abs(predicted - measured) / measured);
    n_within += std::max(predicted / measured, measured / predicted) <= 1.5 ? 1 : 0;
  }
  accuracy.median_ape = quantile(apes, 0.5);
  accuracy.p95_ape = quantile(apes, 0.95);
  accuracy.within_1_5x = rows.empty() ? 0 : static_cast<double>(n_within) / static_cast<double>(rows.size());
  return accuracy;
}

/// A layout's name for grouping.
std::string layout_key(const Timing& row) {
  std::string key = row.chunk ? to_string(*row.chunk) : "contiguous";
  for (const int axis : row.order) key += fmt::format(",{}", axis);
  return fmt::format("{} {} {}", key, row.codec, row.device);
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

double kendall_tau(const std::vector<double>& a, const std::vector<double>& b) {
  double balance = 0;
  double n_a = 0;  // pairs that differ in a
  double n_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int in_b = (b[i] > b[j]) - (b[i] < b[j]);
      balance += in_a * in_b;
      n_a += in_a != 0 ? 1 : 0;
      n_b += in_b != 0 ? 1 : 0;
    }
  }
  return n_a > 0 && n_b > 0 ? balance / std::sqrt(n_a * n_b) : 0;
}

std::vector<Accuracy> accuracy_by_pattern(const Timings& timings, const std::vector<Cost>& costs) {
  std::vector<Accuracy> list;
  for (const auto& pattern : timings.patterns()) {
    const auto rows = rows_of(timings, &pattern);
    Accuracy accuracy = errors_of(timings, costs, rows);
    accuracy.pattern = pattern;
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const std::size_t i : rows) {
      measured.push_back(timings.rows[i].wall_s);
      predicted.push_back(costs[i].seconds);
    }
    accuracy.kendall_tau = kendall_tau(measured, predicted);
    const auto pick =
        static_cast<std::size_t>(std::min_element(predicted.begin(), predicted.end()) - predicted.begin());
    accuracy.regret = measured[pick] / *std::min_element(measured.begin(), measured.end());
    list.push_back(accuracy);
  }
  return list;
}

Accuracy accuracy_of_all(const Timings& timings, const std::vector<Cost>& costs) {
  Accuracy accuracy = errors_of(timings, costs, rows_of(timings, nullptr));
  std::vector<double> taus;
  for (const auto& one : accuracy_by_pattern(timings, costs)) taus.push_back(one.kendall_tau);
  accuracy.kendall_tau = quantile(taus, 0.5);

  struct Sums {
    std::map<std::string, std::pair<double, double>> by_pattern;  // measured, predicted
  };
  std::map<std::string, Sums> layouts;
  for (std::size_t i = 0; i < timings.rows.size(); ++i) {
    layouts[layout_key(timings.rows[i])].by_pattern[timings.rows[i].pattern] = {timings.rows[i].wall_s,
                                                                                costs[i].seconds};
  }
  const std::size_t n_patterns = timings.patterns().size();
  double best_measured = std::numeric_limits<double>::infinity();
  double best_predicted = best_measured;
  double picked = best_measured;
  for (const auto& [key, sums] : layouts) {
    if (sums.by_pattern.size() != n_patterns) continue;
    double measured = 0;
    double predicted = 0;
    for (const auto& [pattern, pair] : sums.by_pattern) {
      measured += pair.first;
      predicted += pair.second;
    }
    best_measured = std::min(best_measured, measured);
    if (predicted < best_predicted) {
      best_predicted = predicted;
      picked = measured;
    }
  }
  accuracy.regret = std::isfinite(picked) ? picked / best_measured : 1;
  return accuracy;
}

}  // namespace chunkwise
