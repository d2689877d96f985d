#include "progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/sizes.h"
#include "command_line.h"

namespace chunkwise {
namespace {

/// The stage that limits is told of the last so many seconds.
constexpr double kLimitWindow_s = 2;

double fraction_of(const Progress& progress) {
  const auto done = static_cast<double>(std::min(progress.done_bytes, progress.total_bytes));
  return done / static_cast<double>(std::max<std::uint64_t>(progress.total_bytes, 1));
}

std::string line_of(const std::string& phase, const Progress& progress, const std::string& limit) {
  std::string line =
      fmt::format("{} {:3.0f} %  {} of {}  {}/s", phase, 100 * fraction_of(progress),
                  format_bytes(std::min(progress.done_bytes, progress.total_bytes)), format_bytes(progress.total_bytes),
                  format_bytes(static_cast<std::uint64_t>(progress.bytes_per_s())));
  const double left_s = seconds_left(progress);
  if (left_s >= 0) line += fmt::format("  {} left", format_seconds(left_s));
  if (limit.empty()) return line;
  const bool by_cores = limit == "decode" || limit == "gather" || limit == "encode";
  return line + fmt::format(
                    "  {}-bound{}", limit,
                    by_cores ? fmt::format(", {} core{}", progress.n_threads, progress.n_threads == 1 ? "" : "s") : "");
}

void print_json(const Json& event) {
  tell(dump_json(event) + "\n");
}

}  // namespace

void ProgressPrinter::progress(const char* phase, const Progress& now) {
  const std::lock_guard lock(mutex_);
  if (phase != phase_) {
    if (style_ == Style::json && !phase_.empty()) print_event(phase_, now_);
    phase_ = phase;
    begun_ = now;
    limit_.clear();
    last_s_ = style_ == Style::terminal || style_ == Style::json ? -1e9 : 0;
  }
  now_ = now;
  if (now.elapsed_s - begun_.elapsed_s >= kLimitWindow_s) {
    limit_ = limiting_stage(begun_, now);
    begun_ = now;
  } else if (limit_.empty() && now.elapsed_s - begun_.elapsed_s >= kLimitWindow_s / 4) {
    limit_ = limiting_stage(begun_, now);
  }
  if (style_ == Style::none || now.total_bytes == 0) return;
  const double interval_s = style_ == Style::terminal ? 0.1 : style_ == Style::json ? 1 : 10;
  if (now.elapsed_s - last_s_ < interval_s) return;
  last_s_ = now.elapsed_s;
  if (style_ == Style::json)
    print_event(phase_, now);
  else if (style_ == Style::terminal)
    tell(fmt::format("\r{:<79.79}", line_of(phase_, now, limit_)));
  else
    tell(fmt::format("{}\n", line_of(phase_, now, limit_)));
  shown_ = true;
}

void ProgressPrinter::print_event(const std::string& phase, const Progress& now) {
  const double left_s = seconds_left(now);
  const StageTotals& stages = now.stages;
  Json event = {{"event", "progress"},
                {"phase", phase},
                {"done_bytes", std::min(now.done_bytes, now.total_bytes)},
                {"total_bytes", now.total_bytes},
                {"fraction", fraction_of(now)},
                {"elapsed_s", now.elapsed_s},
                {"bytes_per_s", now.bytes_per_s()},
                {"left_s", left_s >= 0 ? Json(left_s) : Json(nullptr)},
                {"limited_by", limit_.empty() ? Json(nullptr) : Json(limit_)},
                {"threads", now.n_threads},
                {"stages",
                 {{"read", stages.read_s},
                  {"decode", stages.decode_s},
                  {"gather", stages.gather_s},
                  {"encode", stages.encode_s},
                  {"write", stages.write_s}}}};
  print_json(event);
}

void ProgressPrinter::log(LogLevel level, const std::string& message) {
  if (quiet_) return;
  const char* const kind = level == LogLevel::warning ? "warning" : "note";
  const std::lock_guard lock(mutex_);
  if (style_ == Style::json)
    print_json({{"event", kind}, {"text", message}});
  else
    tell(fmt::format("{}: {}\n", kind, message));
}

void ProgressPrinter::print_state() {
  const std::lock_guard lock(mutex_);
  if (style_ == Style::json) {
    if (!phase_.empty())
      print_event(phase_, now_);
    else
      print_json({{"event", "progress"}, {"phase", "planning"}});
    return;
  }
  const char* const fresh = style_ == Style::terminal && shown_ ? "\n" : "";
  tell(fmt::format("{}{}\n", fresh, phase_.empty() ? "opening and planning" : line_of(phase_, now_, limit_)));
}

void ProgressPrinter::finish() {
  const std::lock_guard lock(mutex_);
  if (style_ == Style::terminal && shown_) tell(fmt::format("\r{:79}\r", ""));
  if (style_ != Style::json) return;
  if (!phase_.empty()) print_event(phase_, now_);
  print_json({{"event", "done"}});
}

void ProgressPrinter::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (style_ == Style::terminal && shown_) tell(fmt::format("\r{:79}\r", ""));
  if (style_ == Style::json)
    print_json({{"event", "failed"},
                {"code", static_cast<int>(error.code())},
                {"text", error.what()},
                {"hint", error.hint()}});
}

}  // namespace chunkwise
