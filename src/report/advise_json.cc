#include <cmath>

#include "base/json.h"
#include "report/advise_report.h"

namespace chunkwise {
namespace {

/// Counts and bytes are whole numbers wherever the expectation is one.
Json number(double value) {
  const double whole = std::round(value);
  if (std::abs(value - whole) <= 1e-9 * std::max(1.0, std::abs(value)) && std::abs(whole) < 9e15) {
    return static_cast<std::int64_t>(whole);
  }
  return value;
}

Json bytes(double value) {
  return number(std::round(value));
}

Json lengths(const Shape& shape) {
  Json list = Json::array();
  for (const Index length : shape) list.push_back(length);
  return list;
}

Json chunks(const std::optional<Shape>& chunk) {
  return chunk ? lengths(*chunk) : Json(nullptr);
}

Json layout_json(const AdviseReport::Layout& layout, const std::vector<AccessPattern>& patterns) {
  Json costs = Json::array();
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const Cost& cost = layout.costs[p];
    costs.push_back({{"pattern", patterns[p].name},
                     {"chunks", number(cost.requests.chunks)},
                     {"requests", number(cost.requests.requests)},
                     {"bytes_read", bytes(cost.requests.bytes)},
                     {"seconds", cost.seconds},
                     {"seconds_low", cost.seconds_low},
                     {"seconds_high", cost.seconds_high}});
  }
  return {{"name", layout.name},
          {"chunks", chunks(layout.chunk)},
          {"shards", chunks(layout.shard)},
          {"weighted_seconds", layout.weighted_s},
          {"objective", layout.objective},
          {"size_bytes", bytes(layout.size_bytes)},
          {"costs", std::move(costs)}};
}

Json variable_json(const AdviseReport::Variable& variable) {
  const ArrayMeta& meta = variable.meta;
  Json dims = Json::array();
  for (const auto& name : variable.axes.names) dims.push_back(name.empty() ? Json(nullptr) : Json(name));
  Json codecs = Json::array();
  for (const auto& codec : meta.codecs) codecs.push_back(to_string(CodecSpecs{codec}));
  Json patterns = Json::array();
  for (const auto& pattern : variable.patterns) {
    patterns.push_back(
        {{"name", pattern.name},
         {"extents", lengths(pattern.extents)},
         {"steps", lengths(pattern.steps.rank() == 0 ? Shape::filled(meta.shape.rank(), 1) : pattern.steps)},
         {"weight", pattern.weight}});
  }
  Json layouts = Json::array();
  for (const auto& layout : variable.layouts) layouts.push_back(layout_json(layout, variable.patterns));
  const bool chunked = variable.exists && meta.storage == Storage::chunked;
  return {{"path", variable.exists ? Json(meta.path) : Json(nullptr)},
          {"shape", lengths(meta.shape)},
          {"dtype", meta.dtype.name()},
          {"dims", std::move(dims)},
          {"chunks", chunked ? lengths(meta.chunk) : Json(nullptr)},
          {"shards", chunked && !meta.shards.empty() ? lengths(meta.unit()) : Json(nullptr)},
          {"codecs", std::move(codecs)},
          {"n_chunks", variable.exists ? Json(variable.n_chunks) : Json(nullptr)},
          {"stored_bytes", variable.exists ? Json(meta.stored_bytes) : Json(nullptr)},
          {"stored_is_estimate", variable.exists ? Json(meta.count_is_estimate) : Json(nullptr)},
          {"patterns", std::move(patterns)},
          {"layouts", std::move(layouts)},
          {"notes", variable.notes}};
}

}  // namespace

std::string advise_json(const AdviseReport& report) {
  Json document = {{"schema", "chunkadvise/1"},
                   {"file", report.file.empty() ? Json(nullptr) : Json(report.file)},
                   {"format", report.format.empty() ? Json(nullptr) : Json(report.format)},
                   {"device", {{"name", report.device.name}, {"calibrated", !report.device.calibrated.empty()}}},
                   {"objective", report.objective},
                   {"variables", Json::array()},
                   {"skipped", Json::array()}};
  if (report.log) {
    document["access_log"] = {
        {"file", report.log->file},         {"lines", report.log->lines},   {"recognised", report.log->recognised},
        {"metadata", report.log->metadata}, {"failed", report.log->failed}, {"not_understood", report.log->other}};
  }
  for (const auto& variable : report.variables) document["variables"].push_back(variable_json(variable));
  for (const auto& skipped : report.skipped) {
    document["skipped"].push_back({{"path", skipped.path}, {"reason", skipped.why}});
  }
  return dump_json(document, 2) + "\n";
}

}  // namespace chunkwise
