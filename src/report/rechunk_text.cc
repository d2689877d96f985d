#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "rechunk/intermediate.h"
#include "report/rechunk_report.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMostVariables = 20;

std::string layout_of(const ArrayMeta& meta) {
  const std::string codecs = meta.codecs.empty() ? "" : "  " + to_string(meta.codecs);
  if (meta.storage == Storage::contiguous) return "contiguous" + codecs;
  if (meta.storage == Storage::compact) return "compact";
  if (meta.storage == Storage::virtual_) return "virtual";
  const std::string shards = meta.shards.empty() ? "" : fmt::format(" in shards of {}", to_string(meta.unit()));
  return to_string(meta.chunk) + shards + codecs;
}

std::string how(const ArrayPlan& plan, const ArrayMeta& target) {
  switch (plan.kind) {
    case ArrayPlan::Kind::nothing:
      if (target.storage == Storage::virtual_) return "nothing to move: a map of other arrays";
      return "nothing to move: no element was ever written";
    case ArrayPlan::Kind::copy_chunks:
      return "encoded chunks copied as they are";
    case ArrayPlan::Kind::elements:
      return "elements copied one by one, as each has a length of its own";
    case ArrayPlan::Kind::by_format:
      return "elements copied one by one, as they refer to other places of the file";
    case ArrayPlan::Kind::rewrite:
      break;
  }
  const std::string tiles = fmt::format("{} tile{}", plan.n_tiles, plan.n_tiles == 1 ? "" : "s");
  const std::string read = fmt::format("source read {:.2f} time{}", plan.passes, plan.passes > 1.005 ? "s" : "");
  if (!plan.intermediate) return fmt::format("{}, {}", tiles, read);
  const IntermediatePlan& through = *plan.intermediate;
  return fmt::format("{}, through an intermediate of {} boxes, {}", read, format_count(through.boxes.n_boxes()),
                     through.meta.codecs.empty() ? "as they are" : to_string(through.meta.codecs)) +
         fmt::format("\n      {} tile{} in, {} out, about {} of scratch space", through.fill.n_tiles,
                     through.fill.n_tiles == 1 ? "" : "s", tiles, format_bytes(through.scratch_bytes));
}

/// What else could have been done, and why it is not.
std::string other_choices(const ArrayPlan& plan) {
  std::string out;
  for (const PlanChoice& choice : plan.choices) {
    if (choice.why_not.empty()) continue;
    const std::string way =
        choice.by_intermediate ? "an intermediate" : fmt::format("reading it {:.2f} times", choice.passes);
    if (choice.seconds == 0) {
      out += fmt::format("      not through {}: {}\n", way, choice.why_not);
      continue;
    }
    const auto bytes = [](const PlanChoice& of) {
      return of.scratch_bytes == 0
                 ? format_bytes(of.read_bytes)
                 : fmt::format("{} + 2 x {}", format_bytes(of.read_bytes), format_bytes(of.scratch_bytes));
    };
    const PlanChoice& taken = plan.choices.front();
    out += fmt::format("      not by {}: {}\n        ({} and about {} rather than {} and {})\n", way, choice.why_not,
                       bytes(choice), format_seconds(choice.seconds), bytes(taken), format_seconds(taken.seconds));
  }
  return out;
}

/// What the step of a shared rewrite has done, and what comes next.
std::string slots_text(const RechunkReport& report) {
  const RechunkReport::Slots& slots = *report.slots;
  switch (slots.step) {
    case RechunkReport::Slots::Step::plan:
      return fmt::format("{}\nthen: rechunk --part I/N {} {}, for I from 1 to N, and rechunk --finish\n",
                         slots.was_complete ? "the plan was there already; nothing was changed"
                                            : fmt::format("plan written to {}", slots.folder),
                         report.source, report.target);
    case RechunkReport::Slots::Step::part:
      if (slots.was_complete) return fmt::format("part {} of {} was complete already\n", slots.part, slots.n_parts);
      return fmt::format("part {} of {}: read {}, wrote {} in {}, peak memory {}\n", slots.part, slots.n_parts,
                         format_bytes(report.totals.read_bytes), format_bytes(report.totals.written_bytes),
                         format_seconds(report.seconds), format_bytes(report.peak_rss_bytes));
    case RechunkReport::Slots::Step::finish:
      return fmt::format("{} parts made it\n", slots.n_parts);
  }
  return "";
}

/// What the run would move and take.
std::string expectations_text(const RechunkReport& report) {
  std::uint64_t read_bytes = 0;
  Index n_reads = 0;
  Index n_writes = 0;
  for (const RechunkReport::Variable& variable : report.variables) {
    read_bytes += variable.plan.read_bytes;
    n_reads += variable.plan.n_source_reads;
    n_writes += variable.plan.n_target_chunks;
  }
  const auto text = [](double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); };
  std::string out = fmt::format("reads {} in {} chunks", format_bytes(read_bytes), format_count(n_reads));
  if (report.disk) {
    const DiskNeed& disk = *report.disk;
    out += fmt::format(", writes about {} ({} to {}) in {} chunks\n", text(disk.target.bytes),
                       text(disk.target.low_bytes), text(disk.target.high_bytes), format_count(n_writes));
    out += fmt::format(
        "disk: {}{} free in '{}'\n",
        disk.scratch_bytes > 0 ? fmt::format("{} of scratch space; ", format_bytes(disk.scratch_bytes)) : std::string(),
        format_bytes(disk.free_bytes), disk.folder);
  } else {
    out += "\n";
  }
  if (report.predicted_seconds > 0)
    out += fmt::format("takes about {} ({} to {}) with a usual {}\n", format_seconds(report.predicted_seconds),
                       format_seconds(report.predicted_seconds / report.error_factor),
                       format_seconds(report.predicted_seconds * report.error_factor), report.predicted_for);
  return out;
}

std::string rate_text(double bytes_per_s) {
  return bytes_per_s > 0 ? format_bytes(static_cast<std::uint64_t>(bytes_per_s)) + "/s" : "";
}

/// What every stage did, beside what the machine could do alone.
std::string stages_text(const RechunkReport& report) {
  const StageTotals& totals = report.totals;
  const Limits& limits = *report.limits;
  struct Row {
    const char* name;
    double thread_s;
    std::uint64_t bytes;
    double limit_bytes_per_s;
    double limit_s;
  };
  const Row rows[] = {
      {"read", totals.read_s, totals.read_bytes, limits.read_bytes_per_s, limits.read_s},
      {"decode", totals.decode_s, totals.decoded_bytes, limits.decode_bytes_per_s, limits.decode_s},
      {"gather", totals.gather_s, totals.encoded_bytes, 0, 0},
      {"encode", totals.encode_s, totals.encoded_bytes, limits.encode_bytes_per_s, limits.encode_s},
      {"write", totals.write_s, totals.written_bytes, limits.write_bytes_per_s, limits.write_s},
  };
  std::string out =
      fmt::format("{:<8}{:>12}{:>13}{:>17}{:>12}\n", "stage", "bytes", "thread time", "machine's limit", "alone");
  for (const Row& row : rows)
    out +=
        fmt::format("{:<8}{:>12}{:>13}{:>17}{:>12}\n", row.name, format_bytes(row.bytes), format_seconds(row.thread_s),
                    rate_text(row.limit_bytes_per_s), row.limit_s > 0 ? format_seconds(row.limit_s) : "");
  if (limits.transfer_s > 0)
    out +=
        fmt::format("{:<8}{:>12}{:>13}{:>17}{:>12}\n", "transfer",
                    format_bytes(totals.read_bytes + totals.written_bytes), "", "", format_seconds(limits.transfer_s));
  if (limits.seconds() > 0)
    out += fmt::format("limit of this machine: {} ({}); reached {:.2f} of it\n", format_seconds(limits.seconds()),
                       limits.name(), limits.seconds() / std::max(report.rewrite_seconds, 1e-9));
  return out;
}

}  // namespace

std::string rechunk_text(const RechunkReport& report) {
  std::string out =
      fmt::format("{} ({}) -> {} ({})\n", report.source, report.from_format, report.target, report.to_format);
  std::size_t shown = 0;
  for (const RechunkReport::Variable& variable : report.variables) {
    if (++shown > kMostVariables) break;
    out += fmt::format("  {}  {} ({})\n", variable.target.path, variable.target.dtype.name(),
                       to_string(variable.target.shape));
    const std::string before = layout_of(variable.source);
    const std::string after = layout_of(variable.target);
    if (before == after)
      out += fmt::format("      {}\n", after);
    else
      out += fmt::format("      {}\n   -> {}\n", before, after);
    const Index n_chunks = variable.source.grid().n_chunks();
    const Index n_absent = n_chunks - variable.source.n_stored_chunks;
    if (n_absent > (variable.source.count_is_estimate ? 1 : 0))  // an estimate is never all
      out += fmt::format("      {}{} of {} chunks absent in the source, read as fill\n",
                         variable.source.count_is_estimate ? "about " : "", format_count(n_absent),
                         format_count(n_chunks));
    if (n_chunks > 0) out += fmt::format("      {}\n", how(variable.plan, variable.target));
    if (report.dry_run) out += other_choices(variable.plan);
  }
  if (report.variables.size() > kMostVariables)
    out += fmt::format("  ... and {} more variables\n", report.variables.size() - kMostVariables);
  for (const Loss& loss : report.losses) out += fmt::format("lost: {}: {}\n", loss.object, loss.what);

  if (report.copied_as_is) out += "nothing changes: the file is copied byte for byte\n";
  const Plan& plan = report.plan;
  if (!report.copied_as_is)
    out += fmt::format(
        "memory {}: tiles {}, read-ahead {}, {}{} thread{} x {}, the rest {}\n", format_bytes(plan.memory_bytes),
        format_bytes(plan.tiles_bytes), format_bytes(plan.read_ahead_bytes),
        plan.shards_bytes > 0 ? fmt::format("open shards {}, ", format_bytes(plan.shards_bytes)) : "", plan.n_threads,
        plan.n_threads == 1 ? "" : "s", format_bytes(plan.worker_bytes), format_bytes(plan.base_bytes));
  if (report.slots) out += slots_text(report);
  if (report.slots && report.slots->step != RechunkReport::Slots::Step::finish) return out;
  if (report.dry_run && !report.copied_as_is) out += expectations_text(report);
  if (report.dry_run) {
    out += "dry run: nothing was written\n";
    return out;
  }
  std::uint64_t decoded_bytes = 0;
  for (const RechunkReport::Variable& variable : report.variables) decoded_bytes += variable.plan.decoded_bytes;
  if (report.resumed)
    out += fmt::format("went on with an unfinished target: {} of {} were done before\n",
                       format_bytes(report.resumed->bytes), format_bytes(decoded_bytes));
  if (report.copied_as_is) decoded_bytes = report.totals.written_bytes;
  const StageTotals& totals = report.totals;
  out += fmt::format(
      "read {}, wrote {} in {} ({}/s of {}), peak memory {}\n", format_bytes(totals.read_bytes),
      format_bytes(totals.written_bytes), format_seconds(report.seconds),
      format_bytes(static_cast<std::uint64_t>(static_cast<double>(decoded_bytes) / std::max(report.seconds, 1e-9))),
      report.copied_as_is ? "the file" : "array data", format_bytes(report.peak_rss_bytes));
  if (report.copied_as_is && report.verified.mode != VerifyMode::none) {
    out += fmt::format("verified: {} of {} read back and compared\n", format_bytes(report.verified.bytes),
                       format_bytes(totals.written_bytes));
    if (report.limits) out += stages_text(report);
    return out;
  }
  switch (report.verified.mode) {
    case VerifyMode::none:
      out += "not verified\n";
      break;
    case VerifyMode::sample:
      out += fmt::format("verified: {} of {} chunks read back and compared\n", format_count(report.verified.n_chunks),
                         format_count(report.verified.n_chunks_total));
      if (report.verified.n_chunks < report.verified.n_chunks_total)
        out += fmt::format("  a wrong chunk is found with a probability of {:.1f} %, one of ten with {:.0f} %\n",
                           100 * chance_to_find(report.verified, 1), 100 * chance_to_find(report.verified, 10));
      break;
    case VerifyMode::full:
      out += fmt::format("verified: all {} chunks read back, equal to what was read\n",
                         format_count(report.verified.n_chunks_total));
      break;
  }
  if (report.limits) out += stages_text(report);
  return out;
}

}  // namespace chunkwise
