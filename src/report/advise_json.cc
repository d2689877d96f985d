#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "report/advise_words.h"

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

Json codecs(const CodecSpecs& specs) {
  Json list = Json::array();
  for (const auto& codec : specs) list.push_back(to_string(CodecSpecs{codec}));
  return list;
}

Json layout_json(const AdviseReport::Layout& layout, const std::vector<AccessPattern>& patterns) {
  Json costs = Json::array();
  double slowest = 0;
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    const Cost& cost = layout.costs[p];
    slowest = std::max(slowest, cost.seconds);
    fastest = std::min(fastest, cost.seconds);
    costs.push_back({{"pattern", patterns[p].name},
                     {"chunks", number(cost.requests.chunks)},
                     {"requests", number(cost.requests.requests)},
                     {"calls", number(cost.requests.calls)},
                     {"index_reads", number(cost.requests.index_reads)},
                     {"index_bytes", bytes(cost.requests.index_bytes)},
                     {"bytes_read", bytes(cost.requests.bytes)},
                     {"seconds", cost.seconds},
                     {"seconds_low", cost.seconds_low},
                     {"seconds_high", cost.seconds_high},
                     {"dominating", cost.dominating()}});
  }
  return {{"name", layout.name},
          {"chunks", chunks(layout.chunk)},
          {"shards", chunks(layout.shard)},
          {"weighted_seconds", layout.weighted_s},
          {"objective", layout.objective},
          {"codecs", codecs(layout.codecs)},
          {"size_bytes", bytes(layout.size_bytes)},
          {"size_low_bytes", bytes(layout.size_low_bytes)},
          {"size_high_bytes", bytes(layout.size_high_bytes)},
          {"size_is_sampled", layout.size_is_sampled},
          {"padding_bytes", bytes(layout.padding_bytes)},
          {"index_bytes", bytes(layout.index_bytes)},
          {"client_bytes", layout.chunk ? bytes(layout.client_bytes) : Json(nullptr)},
          {"objects", number(layout.n_objects)},
          {"worst_to_best", slowest > 0 ? Json(slowest / fastest) : Json(nullptr)},
          {"costs", std::move(costs)}};
}

Json variable_json(const AdviseReport& report, const AdviseReport::Variable& variable) {
  const ArrayMeta& meta = variable.meta;
  Json dims = Json::array();
  for (const auto& name : variable.axes.names) dims.push_back(name.empty() ? Json(nullptr) : Json(name));
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
  Json rewrite = nullptr;
  if (variable.rewrite) {
    rewrite = {{"seconds", variable.rewrite->seconds},
               {"threads", variable.rewrite->n_threads},
               {"free_bytes", bytes(variable.rewrite->free_bytes)},
               {"passes", number(variable.rewrite->passes)},
               {"pattern", variable.patterns[variable.rewrite->pattern].name},
               {"pays_after", variable.rewrite->pays_after > 0 ? number(variable.rewrite->pays_after) : Json(nullptr)}};
  }
  Json copies = nullptr;
  if (variable.copies) {
    const auto& two = *variable.copies;
    Json read_from = Json::object();
    for (std::size_t p = 0; p < variable.patterns.size(); ++p) read_from[variable.patterns[p].name] = two.copy_of[p];
    copies = {{"layouts", Json::array()},
              {"copy_of", std::move(read_from)},
              {"keeps_present", two.keeps_present},
              {"weighted_seconds", two.weighted_s},
              {"objective", two.objective},
              {"size_bytes", bytes(two.size_bytes)},
              {"pattern", variable.patterns[two.pattern].name},
              {"pays_after", two.pays_after > 0 ? number(two.pays_after) : Json(nullptr)}};
    for (const auto& layout : two.layouts) copies["layouts"].push_back(layout_json(layout, variable.patterns));
  }
  Json front = Json::array();
  for (const auto& layout : variable.front) front.push_back(layout_json(layout, variable.patterns));
  Json sample = nullptr;
  if (variable.sample) {
    sample = {{"boxes", variable.sample->n_boxes},
              {"decoded_bytes", variable.sample->decoded_bytes},
              {"why_not", variable.sample->why_not.empty() ? Json(nullptr) : Json(variable.sample->why_not)}};
  }
  const auto* pick = variable.find(AdviseReport::Layout::Kind::recommended);
  const bool chunked = variable.exists && meta.storage == Storage::chunked;
  return {{"path", variable.exists ? Json(meta.path) : Json(nullptr)},
          {"shape", lengths(meta.shape)},
          {"dtype", meta.dtype.name()},
          {"dims", std::move(dims)},
          {"chunks", chunked ? lengths(meta.chunk) : Json(nullptr)},
          {"shards", chunked && !meta.shards.empty() ? lengths(meta.unit()) : Json(nullptr)},
          {"codecs", codecs(meta.codecs)},
          {"n_chunks", variable.exists ? Json(variable.n_chunks) : Json(nullptr)},
          {"stored_bytes", variable.exists ? Json(meta.stored_bytes) : Json(nullptr)},
          {"stored_is_estimate", variable.exists ? Json(meta.count_is_estimate) : Json(nullptr)},
          {"patterns", std::move(patterns)},
          {"layouts", std::move(layouts)},
          {"proven", pick->proven},
          {"leave", variable.exists ? Json(!pays(variable, report.device)) : Json(nullptr)},
          {"rewrite", std::move(rewrite)},
          {"copies", std::move(copies)},
          {"front", std::move(front)},
          {"sample", std::move(sample)},
          {"try_first", try_first_words(report, variable)},
          {"notes", variable.notes}};
}

}  // namespace

std::string advise_json(const AdviseReport& report) {
  const std::string command = command_line(report);
  Json document = {{"schema", "chunkadvise/1"},
                   {"file", report.file.empty() ? Json(nullptr) : Json(report.file)},
                   {"format", report.format.empty() ? Json(nullptr) : Json(report.format)},
                   {"device", {{"name", report.device.name}, {"calibrated", !report.device.calibrated.empty()}}},
                   {"client", report.client},
                   {"objective", report.objective},
                   {"to", report.to.empty() ? Json(nullptr) : Json(report.to)},
                   {"max_objects", report.max_objects ? Json(*report.max_objects) : Json(nullptr)},
                   {"max_client_bytes", report.max_client_bytes ? Json(*report.max_client_bytes) : Json(nullptr)},
                   {"command", command.empty() ? Json(nullptr) : Json(command)},
                   {"variables", Json::array()},
                   {"skipped", Json::array()}};
  if (report.log) {
    document["access_log"] = {
        {"file", report.log->file},         {"lines", report.log->lines},   {"recognised", report.log->recognised},
        {"metadata", report.log->metadata}, {"failed", report.log->failed}, {"not_understood", report.log->other}};
  }
  for (const auto& variable : report.variables) document["variables"].push_back(variable_json(report, variable));
  for (const auto& skipped : report.skipped) {
    document["skipped"].push_back({{"path", skipped.path}, {"reason", skipped.why}});
  }
  return dump_json(document, 2) + "\n";
}

}  // namespace chunkwise
