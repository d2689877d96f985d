#include <fmt/format.h>

#include "report/calibrate_report.h"
#include "report/predict_report.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

}  // namespace

std::string predict_text(const PredictReport& report) {
  const auto& axes = report.timings.axes;
  std::string text = wrap(fmt::format("{}: {} timings of ({}), device {} ({})", report.table, report.costs.size(),
                                      fmt::join(axes.labels(), ", "), report.device.name, report.device.summary),
                          2);
  text += "\n";
  TextColumn pattern{"pattern", false, 0, {}};
  TextColumn rows{"rows", true, 0, {}};
  TextColumn median{"median error", true, 0, {}};
  TextColumn p95{"95th", true, 0, {}};
  TextColumn within{"in 1.5x", true, 0, {}};
  TextColumn tau{"tau", true, 0, {}};
  TextColumn regret{"regret", true, 0, {}};
  const auto add = [&](const Accuracy& accuracy, const std::string& name) {
    pattern.cells.push_back(name);
    rows.cells.push_back(std::to_string(accuracy.n));
    median.cells.push_back(percent(accuracy.median_ape));
    p95.cells.push_back(percent(accuracy.p95_ape));
    within.cells.push_back(percent(accuracy.within_1_5x));
    tau.cells.push_back(fmt::format("{:.2f}", accuracy.kendall_tau));
    regret.cells.push_back(fmt::format("{:.2f}", accuracy.regret));
  };
  for (const auto& accuracy : report.by_pattern) add(accuracy, accuracy.pattern);
  add(report.all, "(all)");
  text += format_table({pattern, rows, median, p95, within, tau, regret});
  text += wrap(
      "error: of predicted seconds against measured; tau: Kendall's, over layouts; regret: measured time of the layout "
      "predicted fastest over the fastest measured",
      0);
  if (!report.saved_to.empty()) {
    text.append("\n").append(constants_text(report.device));
    text.append("\n").append(wrap(fmt::format("Saved to {}", report.saved_to), 2));
  }
  return text;
}

}  // namespace chunkwise
