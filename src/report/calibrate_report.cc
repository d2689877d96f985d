#include "report/calibrate_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/sizes.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

std::string bytes_text(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

std::string value_text(const ConstantRow& row, double value) {
  if (!std::isfinite(value)) return "none";
  if (row.unit == "s") return format_seconds(value);
  if (row.unit == "1" || row.unit == "requests") return fmt::format("{:.3g}", value);
  return value < 1e18 ? bytes_text(value) + (row.unit == "B/s" ? "/s" : "") : "none";
}

/// What a kind of probe is, in words.
std::string kind_text(const ProbeTimes& times) {
  if (times.gap_bytes > 0) return fmt::format("{} every {}", bytes_text(times.size_bytes), bytes_text(times.gap_bytes));
  return bytes_text(times.size_bytes) + " at random";
}

}  // namespace

std::string constants_text(const Device& device) {
  TextColumn name{"constant", false, 0, {}};
  TextColumn value{"value", true, 0, {}};
  TextColumn low{"from", true, 0, {}};
  TextColumn high{"to", true, 0, {}};
  TextColumn meaning{"", false, 1, {}};
  for (const auto& row : constant_rows()) {
    const Constant& constant = device.*row.member;
    if (constant.source.rfind("not fitted", 0) == 0 || constant.source == "does not apply") continue;
    name.cells.emplace_back(row.name);
    value.cells.push_back(value_text(row, constant.value));
    low.cells.push_back(value_text(row, constant.low));
    high.cells.push_back(value_text(row, constant.high));
    meaning.cells.emplace_back(row.meaning.substr(0, row.meaning.find(';')));
  }
  return format_table({name, value, low, high, meaning});
}

std::string calibrate_text(const CalibrateReport& report) {
  const DeviceProbe& probe = report.probe;
  std::string text = wrap(fmt::format("{}: measured in {}", report.folder, format_seconds(probe.seconds)), 2);
  if (probe.resident_share > 0.001) {
    text += wrap(fmt::format("The page cache could not be emptied: {:.0f} % of the file stayed in it, so the times are "
                             "not those of the device.",
                             100 * probe.resident_share),
                 2);
  }
  TextColumn kind{"reads", false, 0, {}};
  TextColumn n{"number", true, 0, {}};
  TextColumn median{"median", true, 0, {}};
  TextColumn low{"quartiles", true, 0, {}};
  TextColumn high{"", true, 0, {}};
  const auto add = [&](const ProbeTimes& times, const std::string& name) {
    kind.cells.push_back(name);
    n.cells.push_back(std::to_string(times.seconds.size()));
    median.cells.push_back(format_seconds(times.quantile(0.5)));
    low.cells.push_back(format_seconds(times.quantile(0.25)));
    high.cells.push_back(format_seconds(times.quantile(0.75)));
  };
  for (const auto& times : probe.random) add(times, kind_text(times));
  for (const auto& times : probe.skips) add(times, kind_text(times));
  add(probe.opens, "small files, opened and read");
  text.append("\n").append(format_table({kind, n, median, low, high}));
  text += wrap(fmt::format("eight reads in flight: {}/s", bytes_text(probe.total_Bps)), 2);
  text.append("\n").append(constants_text(report.device));
  text.append("\n").append(wrap(fmt::format("Saved to {}", report.saved_to), 2));
  return text;
}

std::string calibrate_json(const CalibrateReport& report) {
  Json probes = Json::array();
  const auto add = [&](const ProbeTimes& times, const char* kind) {
    probes.push_back({{"kind", kind},
                      {"bytes", times.size_bytes},
                      {"gap_bytes", times.gap_bytes},
                      {"n", times.seconds.size()},
                      {"median_s", times.quantile(0.5)},
                      {"quartile_1_s", times.quantile(0.25)},
                      {"quartile_3_s", times.quantile(0.75)}});
  };
  for (const auto& times : report.probe.random) add(times, "random");
  for (const auto& times : report.probe.skips) add(times, "skip");
  add(report.probe.opens, "open");
  const Json document = {{"schema", "chunkadvise-calibrate/1"},
                         {"folder", report.folder},
                         {"device", {{"name", report.device.name}, {"calibrated", true}}},
                         {"saved_to", report.saved_to},
                         {"seconds", report.probe.seconds},
                         {"resident_share", report.probe.resident_share},
                         {"probes", std::move(probes)},
                         {"total_bytes_per_s", report.probe.total_Bps}};
  return dump_json(document, 2) + "\n";
}

}  // namespace chunkwise
