#include "base/json.h"
#include "report/predict_report.h"

namespace chunkwise {
namespace {

Json figures(const Accuracy& accuracy) {
  return {{"n", accuracy.n},
          {"median_ape", accuracy.median_ape},
          {"p95_ape", accuracy.p95_ape},
          {"within_1_5x", accuracy.within_1_5x},
          {"kendall_tau", accuracy.kendall_tau},
          {"regret", accuracy.regret}};
}

Json chunks(const std::optional<Shape>& chunk) {
  if (!chunk) return nullptr;
  Json list = Json::array();
  for (const Index length : *chunk) list.push_back(length);
  return list;
}

}  // namespace

std::string predict_json(const PredictReport& report) {
  Json document = {{"schema", "chunkadvise-predict/1"},
                   {"table", report.table},
                   {"device",
                    {{"name", report.device.name},
                     {"calibrated", !report.device.calibrated.empty()},
                     {"error_factor", report.device.error_factor.value}}},
                   {"saved_to", report.saved_to.empty() ? Json(nullptr) : Json(report.saved_to)}};
  document.update(figures(report.all));
  Json patterns = Json::array();
  for (const auto& accuracy : report.by_pattern) {
    Json entry = {{"pattern", accuracy.pattern}};
    entry.update(figures(accuracy));
    patterns.push_back(std::move(entry));
  }
  document["patterns"] = std::move(patterns);
  Json cells = Json::array();
  for (std::size_t i = 0; i < report.costs.size(); ++i) {
    const Timing& row = report.timings.rows[i];
    const Cost& cost = report.costs[i];
    cells.push_back({{"pattern", row.pattern},
                     {"chunks", chunks(row.chunk)},
                     {"wall_s", row.wall_s},
                     {"predicted_s", cost.seconds},
                     {"low_s", cost.seconds_low},
                     {"high_s", cost.seconds_high},
                     {"calls", cost.requests.calls},
                     {"bytes_read", cost.requests.bytes},
                     {"index_reads", cost.requests.index_reads},
                     {"index_bytes", cost.requests.index_bytes}});
  }
  document["cells"] = std::move(cells);
  return dump_json(document, 2) + "\n";
}

}  // namespace chunkwise
