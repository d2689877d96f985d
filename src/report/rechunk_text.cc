#include <fmt/format.h>

#include <algorithm>

#include "base/sizes.h"
#include "report/rechunk_report.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMostVariables = 20;

std::string layout_of(const ArrayMeta& meta) {
  const std::string codecs = meta.codecs.empty() ? "" : "  " + to_string(meta.codecs);
  if (meta.storage == Storage::contiguous) return "contiguous" + codecs;
  if (meta.storage == Storage::compact) return "compact";
  if (meta.storage == Storage::virtual_) return "virtual";
  return to_string(meta.chunk) + codecs;
}

std::string how(const ArrayPlan& plan, const ArrayMeta& target) {
  switch (plan.kind) {
    case ArrayPlan::Kind::nothing:
      if (target.storage == Storage::virtual_) return "nothing to move: a map of other arrays";
      return "nothing to move: no element was ever written";
    case ArrayPlan::Kind::copy_chunks:
      return "encoded chunks copied as they are";
    case ArrayPlan::Kind::by_format:
      return "elements copied one by one, as they refer to other places of the file";
    case ArrayPlan::Kind::rewrite:
      break;
  }
  return fmt::format("{} tile{}, source read {:.2f} time{}", plan.n_tiles, plan.n_tiles == 1 ? "" : "s", plan.passes,
                     plan.passes > 1.005 ? "s" : "");
}

}  // namespace

std::string rechunk_text(const RechunkReport& report, bool verbose) {
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
    if (variable.source.n_stored_chunks < n_chunks)
      out += fmt::format("      {} of {} chunks absent in the source, read as fill\n",
                         format_count(n_chunks - variable.source.n_stored_chunks), format_count(n_chunks));
    if (n_chunks > 0) out += fmt::format("      {}\n", how(variable.plan, variable.target));
  }
  if (report.variables.size() > kMostVariables)
    out += fmt::format("  ... and {} more variables\n", report.variables.size() - kMostVariables);
  for (const Loss& loss : report.losses) out += fmt::format("lost: {}: {}\n", loss.object, loss.what);

  const Plan& plan = report.plan;
  out += fmt::format("memory {}: tiles {}, read-ahead {}, {} thread{} x {}, the rest {}\n",
                     format_bytes(plan.memory_bytes), format_bytes(plan.tiles_bytes),
                     format_bytes(plan.read_ahead_bytes), plan.n_threads, plan.n_threads == 1 ? "" : "s",
                     format_bytes(plan.worker_bytes), format_bytes(plan.base_bytes));
  if (report.dry_run) {
    out += "dry run: nothing was written\n";
    return out;
  }
  std::uint64_t decoded_bytes = 0;
  for (const RechunkReport::Variable& variable : report.variables) decoded_bytes += variable.plan.decoded_bytes;
  if (report.resumed)
    out += fmt::format("went on with an unfinished target: {} of {} were done before\n",
                       format_bytes(report.resumed->bytes), format_bytes(decoded_bytes));
  const StageTotals& totals = report.totals;
  out += fmt::format(
      "read {}, wrote {} in {} ({}/s of array data), peak memory {}\n", format_bytes(totals.read_bytes),
      format_bytes(totals.written_bytes), format_seconds(report.seconds),
      format_bytes(static_cast<std::uint64_t>(static_cast<double>(decoded_bytes) / std::max(report.seconds, 1e-9))),
      format_bytes(report.peak_rss_bytes));
  if (verbose) {
    const auto stage = [&out](const char* name, double seconds, std::uint64_t bytes) {
      const double rate = static_cast<double>(bytes) / std::max(seconds, 1e-9);
      out += fmt::format("  {:<7} {:>10} of thread time  {:>10}/s\n", name, format_seconds(seconds),
                         format_bytes(static_cast<std::uint64_t>(rate)));
    };
    stage("read", totals.read_s, totals.read_bytes);
    stage("decode", totals.decode_s, totals.decoded_bytes);
    stage("gather", totals.gather_s, totals.encoded_bytes);
    stage("encode", totals.encode_s, totals.encoded_bytes);
    stage("write", totals.write_s, totals.written_bytes);
  }
  switch (report.verified.mode) {
    case VerifyMode::none:
      out += "not verified\n";
      break;
    case VerifyMode::sample:
      out += fmt::format("verified: {} of {} chunks read back and compared\n", format_count(report.verified.n_chunks),
                         format_count(report.verified.n_chunks_total));
      break;
    case VerifyMode::full:
      out += fmt::format("verified: all {} chunks compared with the source\n",
                         format_count(report.verified.n_chunks_total));
      break;
  }
  return out;
}

}  // namespace chunkwise
