#include <algorithm>
#include "base/json.h"

#include "rechunk/intermediate.h"
#include "report/rechunk_report.h"

namespace chunkwise {
namespace {

Json lengths(const Shape& shape) {
  Json list = Json::array();
  for (Index length : shape) list.push_back(length);
  return list;
}

Json layout(const ArrayMeta& meta) {
  Json json;
  json["storage"] = meta.storage == Storage::chunked      ? "chunked"
                    : meta.storage == Storage::contiguous ? "contiguous"
                    : meta.storage == Storage::compact    ? "compact"
                                                          : "virtual";
  json["chunks"] = meta.storage == Storage::chunked ? lengths(meta.chunk) : Json(nullptr);
  json["shards"] = meta.shards.empty() ? Json(nullptr) : lengths(meta.unit());
  json["codecs"] = to_string(meta.codecs);
  return json;
}

const char* kind_name(ArrayPlan::Kind kind) {
  switch (kind) {
    case ArrayPlan::Kind::nothing:
      return "nothing";
    case ArrayPlan::Kind::copy_chunks:
      return "copy";
    case ArrayPlan::Kind::elements:
    case ArrayPlan::Kind::by_format:
      return "elements";
    case ArrayPlan::Kind::rewrite:
      break;
  }
  return "rewrite";
}

Json intermediate(const IntermediatePlan& plan) {
  Json json;
  json["tile"] = lengths(plan.fill.tile);
  json["tiles"] = plan.fill.n_tiles;
  json["boxes"] = plan.boxes.n_boxes();
  json["largest_box"] = lengths(plan.meta.chunk);
  json["codecs"] = to_string(plan.meta.codecs);
  json["bytes"] = plan.scratch_bytes;
  return json;
}

Json choice(const PlanChoice& way) {
  Json json;
  json["by"] = way.by_intermediate ? "intermediate" : "passes";
  json["passes"] = way.passes;
  json["bytes_read"] = way.read_bytes;
  json["scratch_bytes"] = way.scratch_bytes;
  json["seconds"] = way.seconds > 0 ? Json(way.seconds) : Json(nullptr);
  json["why_not"] = way.why_not.empty() ? Json(nullptr) : Json(way.why_not);
  return json;
}

const char* step_name(RechunkReport::Slots::Step step) {
  switch (step) {
    case RechunkReport::Slots::Step::plan:
      return "plan";
    case RechunkReport::Slots::Step::part:
      return "part";
    case RechunkReport::Slots::Step::finish:
      return "finish";
  }
  return "";
}

const char* mode_name(VerifyMode mode) {
  return mode == VerifyMode::none ? "none" : (mode == VerifyMode::sample ? "sample" : "full");
}

}  // namespace

std::string rechunk_json(const RechunkReport& report) {
  Json json;
  json["schema"] = "rechunk/1";
  json["source"] = report.source;
  json["target"] = report.target;
  json["from"] = report.from_format;
  json["to"] = report.to_format;
  json["dry_run"] = report.dry_run;
  json["variables"] = Json::array();
  Index n_tiles = 0;
  Index n_reads = 0;
  Index n_writes = 0;
  double most_passes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t decoded_bytes = 0;
  std::uint64_t scratch_bytes = 0;  // one intermediate at a time
  for (const RechunkReport::Variable& variable : report.variables) {
    const ArrayPlan& plan = variable.plan;
    Json entry;
    entry["path"] = variable.target.path;
    entry["shape"] = lengths(variable.target.shape);
    entry["dtype"] = variable.target.dtype.name();
    entry["dims"] = variable.target.dims;
    entry["from"] = layout(variable.source);
    entry["to"] = layout(variable.target);
    entry["stored_is_estimate"] = variable.source.count_is_estimate;
    entry["action"] = kind_name(plan.kind);
    entry["tile"] = lengths(plan.tile);
    entry["tiles"] = plan.n_tiles;
    entry["passes"] = plan.passes;
    entry["intermediate"] = plan.intermediate ? intermediate(*plan.intermediate) : Json(nullptr);
    entry["choices"] = Json::array();
    for (const PlanChoice& way : plan.choices) entry["choices"].push_back(choice(way));
    json["variables"].push_back(std::move(entry));
    n_tiles += plan.n_tiles;
    n_reads += plan.n_source_reads;
    n_writes += plan.n_target_chunks;
    if (plan.kind != ArrayPlan::Kind::nothing) most_passes = std::max(most_passes, plan.passes);
    read_bytes += plan.read_bytes;
    decoded_bytes += plan.decoded_bytes;
    if (plan.intermediate) scratch_bytes = std::max(scratch_bytes, plan.intermediate->scratch_bytes);
  }
  const Plan& plan = report.plan;
  json["plan"] = {{"passes", most_passes},
                  {"tiles", n_tiles},
                  {"memory_bytes", plan.memory_bytes},
                  {"memory",
                   {{"base_bytes", plan.base_bytes},
                    {"threads", plan.n_threads},
                    {"thread_bytes", plan.worker_bytes},
                    {"read_ahead_bytes", plan.read_ahead_bytes},
                    {"tiles_bytes", plan.tiles_bytes},
                    {"shards_bytes", plan.shards_bytes},
                    {"scratch_index_bytes", plan.scratch_index_bytes}}},
                  {"scratch", plan.scratch_folder.empty() ? Json(nullptr) : Json(plan.scratch_folder)},
                  {"scratch_bytes", scratch_bytes},
                  {"bytes_read", read_bytes},
                  {"bytes_decoded", decoded_bytes},
                  {"requests", n_reads},
                  {"chunks_written", n_writes},
                  {"seconds", report.predicted_seconds},
                  {"seconds_low", report.predicted_seconds / report.error_factor},
                  {"seconds_high", report.predicted_seconds * report.error_factor},
                  {"device", report.predicted_for}};
  json["disk"] = nullptr;
  if (report.disk) {
    const DiskNeed& disk = *report.disk;
    json["disk"] = {{"target_bytes", disk.target.bytes},
                    {"target_bytes_low", disk.target.low_bytes},
                    {"target_bytes_high", disk.target.high_bytes},
                    {"scratch_bytes", disk.scratch_bytes},
                    {"folder", disk.folder},
                    {"free_bytes", disk.free_bytes}};
  }
  json["step"] = nullptr;
  if (report.slots) {
    const RechunkReport::Slots& slots = *report.slots;
    json["step"] = {{"name", step_name(slots.step)},
                    {"part", slots.part > 0 ? Json(slots.part) : Json(nullptr)},
                    {"parts", slots.n_parts > 0 ? Json(slots.n_parts) : Json(nullptr)},
                    {"was_complete", slots.was_complete},
                    {"folder", slots.folder}};
  }
  json["resumed"] = nullptr;
  if (report.resumed) {
    json["resumed"] = {{"tiles_done_before", report.resumed->n_tiles},
                       {"chunks_done_before", report.resumed->n_chunks},
                       {"bytes_done_before", report.resumed->bytes}};
  }
  const bool only_plans = report.dry_run || (report.slots && report.slots->step == RechunkReport::Slots::Step::plan);
  if (only_plans) {
    json["actual"] = nullptr;
    json["verified"] = nullptr;
  } else {
    const StageTotals& totals = report.totals;
    json["actual"] = {{"bytes_read", totals.read_bytes},
                      {"bytes_written", totals.written_bytes},
                      {"scratch_bytes_written", totals.scratch_written_bytes},
                      {"scratch_bytes_read", totals.scratch_read_bytes},
                      {"requests", totals.n_chunks_read},
                      {"chunks_written", totals.n_chunks_written},
                      {"chunks_absent", totals.n_chunks_absent},
                      {"seconds", report.seconds},
                      {"rewrite_seconds", report.rewrite_seconds},
                      {"stages",
                       {{"read", totals.read_s},
                        {"decode", totals.decode_s},
                        {"gather", totals.gather_s},
                        {"encode", totals.encode_s},
                        {"write", totals.write_s}}},
                      {"peak_rss_bytes", report.peak_rss_bytes}};
    json["verified"] = {{"mode", mode_name(report.verified.mode)},
                        {"chunks", report.verified.n_chunks},
                        {"chunks_total", report.verified.n_chunks_total},
                        {"bytes", report.verified.bytes},
                        {"seconds", report.verified.seconds},
                        {"chances", Json::array()}};
    if (report.verified.mode == VerifyMode::sample && report.verified.n_chunks_total > 0 && !report.copied_as_is)
      for (const Index n_wrong : {Index{1}, Index{10}, Index{100}})
        json["verified"]["chances"].push_back(
            {{"wrong_chunks", n_wrong}, {"found", chance_to_find(report.verified, n_wrong)}});
    if (report.slots && report.slots->step == RechunkReport::Slots::Step::part) json["verified"] = nullptr;
    if (report.limits) {
      const Limits& limits = *report.limits;
      json["limits"] = {{"read_bytes_per_s", limits.read_bytes_per_s},
                        {"write_bytes_per_s", limits.write_bytes_per_s},
                        {"decode_bytes_per_s", limits.decode_bytes_per_s},
                        {"encode_bytes_per_s", limits.encode_bytes_per_s},
                        {"read_cpu_s_per_byte", limits.read_cpu_s_per_byte},
                        {"write_cpu_s_per_byte", limits.write_cpu_s_per_byte},
                        {"seconds",
                         {{"read", limits.read_s},
                          {"write", limits.write_s},
                          {"decode", limits.decode_s},
                          {"encode", limits.encode_s},
                          {"transfer", limits.transfer_s}}},
                        {"limit_seconds", limits.seconds()},
                        {"limited_by", limits.name()},
                        {"reached", limits.seconds() / std::max(report.rewrite_seconds, 1e-9)}};
    }
  }
  json["copied_as_is"] = report.copied_as_is;
  json["notes"] = report.notes;
  json["losses"] = Json::array();
  for (const Loss& loss : report.losses) json["losses"].push_back({{"object", loss.object}, {"what", loss.what}});
  return dump_json(json, 2);
}

}  // namespace chunkwise
