#include "report/validate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/sizes.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

constexpr int kPlotColumns = 24;

std::string chunk_text(const Timing& row) {
  return row.chunk ? fmt::format("{}", fmt::join(row.chunk->begin(), row.chunk->end(), "x")) : "contiguous";
}

/// "|---o*--|": o predicted, * measured (X both), on a logarithmic axis.
std::string plot(double measured_s, double predicted_s, double least_s, double most_s) {
  std::string line(kPlotColumns, '.');
  const auto at = [&](double s) {
    const double share = most_s > least_s ? std::log(s / least_s) / std::log(most_s / least_s) : 0;
    return static_cast<std::size_t>(std::clamp(std::lround(share * (kPlotColumns - 1)), 0L, kPlotColumns - 1L));
  };
  line[at(measured_s)] = '*';
  char& mark = line[at(predicted_s)];
  mark = mark == '*' ? 'X' : 'o';
  return line;
}

}  // namespace

std::string validate_text(const ValidateReport& report) {
  const auto& rows = report.predicted.timings.rows;
  const Device& device = report.predicted.device;
  std::string text = wrap(fmt::format("{} {}: {} cells read cold by {} in {:.0f} s, device {} ({})", report.file,
                                      report.variable, rows.size(), report.client, report.seconds, device.name,
                                      device.calibrated.empty() ? "not calibrated" : "calibrated " + device.calibrated),
                          2);
  text += wrap(fmt::format("the page cache was emptied before each read: at most {:.2f} % of the pages were in memory",
                           100 * report.resident_share),
               2);
  if (report.ended_early) text += wrap("the budget did not hold seven reads of each cell: see the column reads", 2);
  text += "\n";
  TextColumn layout{"layout", false, 0, {}};
  TextColumn chunk{"chunks", false, 1, {}};
  TextColumn pattern{"pattern", false, 0, {}};
  TextColumn reads{"reads", true, 2, {}};
  TextColumn measured{"measured", true, 0, {}};
  TextColumn spread{"quartiles", true, 3, {}};
  TextColumn predicted{"predicted", true, 0, {}};
  TextColumn marks{"* measured, o predicted", false, 0, {}};
  double least_s = 1e300;
  double most_s = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const double s : {rows[i].wall_s, report.predicted.costs[i].seconds}) {
      least_s = std::min(least_s, s);
      most_s = std::max(most_s, s);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& cell = report.cells[i];
    layout.cells.push_back(cell.layout);
    chunk.cells.push_back(chunk_text(rows[i]));
    pattern.cells.push_back(rows[i].pattern);
    reads.cells.push_back(std::to_string(cell.seconds.size()));
    measured.cells.push_back(format_seconds(rows[i].wall_s));
    spread.cells.push_back(fmt::format("{} to {}", format_seconds(quantile(cell.seconds, 0.25)),
                                       format_seconds(quantile(cell.seconds, 0.75))));
    predicted.cells.push_back(format_seconds(report.predicted.costs[i].seconds));
    marks.cells.push_back(plot(rows[i].wall_s, report.predicted.costs[i].seconds, least_s, most_s));
  }
  text += format_table({layout, chunk, pattern, reads, measured, spread, predicted, marks});
  text += wrap(
      fmt::format("the plot's axis is logarithmic, from {} to {}", format_seconds(least_s), format_seconds(most_s)), 0);
  const std::string figures = predict_text(report.predicted);
  text.append("\n").append(figures, figures.find("\n\n") + 2);
  return text;
}

std::string validate_json(const ValidateReport& report) {
  Json cells = Json::array();
  const auto& rows = report.predicted.timings.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& cell = report.cells[i];
    const Cost& cost = report.predicted.costs[i];
    Json chunk = nullptr;
    if (rows[i].chunk) {
      chunk = Json::array();
      for (const Index length : *rows[i].chunk) chunk.push_back(length);
    }
    cells.push_back({{"layout", cell.layout},
                     {"chunks", std::move(chunk)},
                     {"pattern", rows[i].pattern},
                     {"reads", cell.seconds.size()},
                     {"wall_s", rows[i].wall_s},
                     {"quartile_1_s", quantile(cell.seconds, 0.25)},
                     {"quartile_3_s", quantile(cell.seconds, 0.75)},
                     {"predicted_s", cost.seconds},
                     {"low_s", cost.seconds_low},
                     {"high_s", cost.seconds_high}});
  }
  const Accuracy& all = report.predicted.all;
  return dump_json(Json{{"schema", "chunkadvise-validate/1"},
                        {"file", report.file},
                        {"variable", report.variable},
                        {"client", report.client},
                        {"device",
                         {{"name", report.predicted.device.name},
                          {"calibrated", !report.predicted.device.calibrated.empty()}}},
                        {"resident_share", report.resident_share},
                        {"seconds", report.seconds},
                        {"ended_early", report.ended_early},
                        {"median_ape", all.median_ape},
                        {"p95_ape", all.p95_ape},
                        {"kendall_tau", all.kendall_tau},
                        {"regret", all.regret},
                        {"cells", std::move(cells)}},
                   2) +
         "\n";
}

std::string validate_csv(const ValidateReport& report) {
  const auto dims = report.predicted.timings.axes.labels();
  std::string text = "pattern";
  for (const auto& dim : dims) text += fmt::format(",start_{0},n_{0}", dim);
  for (const auto& dim : dims) text += fmt::format(",chunk_{}", dim);
  text += ",layout,store,client,codec,stored_bytes,wall_s,quartile_1_s,quartile_3_s,reads\n";
  const auto& rows = report.predicted.timings.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Timing& row = rows[i];
    const auto& cell = report.cells[i];
    text += fmt::format("\"{}\"", row.pattern);
    for (int axis = 0; axis < row.start.rank(); ++axis) text += fmt::format(",{},{}", row.start[axis], row.count[axis]);
    for (int axis = 0; axis < row.start.rank(); ++axis)
      text += row.chunk ? fmt::format(",{}", (*row.chunk)[axis]) : ",";
    text += fmt::format(",{},{},{},\"{}\",{},{:.6f},{:.6f},{:.6f},{}\n", row.chunk ? "chunked" : "contiguous",
                        row.store, row.client, row.codec, row.stored_bytes, row.wall_s, quantile(cell.seconds, 0.25),
                        quantile(cell.seconds, 0.75), cell.seconds.size());
  }
  return text;
}

}  // namespace chunkwise
