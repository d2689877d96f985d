// What a running rewrite says on stderr.
#pragma once

#include <mutex>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "rechunk/progress.h"

namespace chunkwise {

/// Thread-safe.
class ProgressPrinter {
 public:
  enum class Style {
    none,
    plain,     // a line every ten seconds
    terminal,  // one line that rewrites itself
    json,      // an event a line, every second and at the end of every phase; docs/json.md
  };
  /// `quiet`: no notes and warnings.
  ProgressPrinter(Style style, bool quiet) : style_(style), quiet_(quiet) {}

  void progress(const char* phase, const Progress& now);
  void log(LogLevel level, const std::string& message);
  /// Prints how things stand now, whatever the style.
  void print_state();
  /// Leaves the terminal on a fresh line, and tells an end with json.
  void finish();
  void fail(const Error& error);

 private:
  void print_event(const std::string& phase, const Progress& now);

  const Style style_;
  const bool quiet_;
  std::mutex mutex_;
  std::string phase_;
  Progress now_;
  Progress begun_;  // where the stage that limits is reckoned from
  std::string limit_;
  double last_s_ = -1;
  bool shown_ = false;
};

}  // namespace chunkwise
