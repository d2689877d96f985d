// How far work has come, and what holds it up.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "rechunk/stage_totals.h"

namespace chunkwise {

struct Progress {
  std::uint64_t done_bytes = 0;  // of the target, decoded
  std::uint64_t total_bytes = 0;
  double elapsed_s = 0;
  /// What the stages took so far, and by how many threads; 0 threads where there are no stages.
  StageTotals stages;
  int n_threads = 0;
  /// What all of it was expected to take; 0 where nothing was.
  double expected_s = 0;
  /// Of done_bytes, what earlier runs did.
  std::uint64_t earlier_bytes = 0;

  double bytes_per_s() const;
};

/// Called about ten times a second on the thread that does the work.
using ProgressSink = std::function<void(const Progress&)>;

/// Seconds until the end: at first what was expected, soon what the pace so far says. Negative if nothing can be said.
double seconds_left(const Progress& progress);

/// What held up the work between two moments of it: "read", "decode", "gather", "encode", "write", or "memory" where
/// neither the cores nor the device were busy. Empty if nothing can be said.
std::string limiting_stage(const Progress& earlier, const Progress& later);

}  // namespace chunkwise
