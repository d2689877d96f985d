#include "rechunk/progress.h"

#include <algorithm>
#include <utility>

namespace chunkwise {

double Progress::bytes_per_s() const {
  const std::uint64_t done = std::min(done_bytes, total_bytes);
  return elapsed_s > 0 ? static_cast<double>(done - std::min(done, earlier_bytes)) / elapsed_s : 0;
}

double seconds_left(const Progress& progress) {
  if (progress.total_bytes == 0) return -1;
  const double fraction =
      std::min(1.0, static_cast<double>(progress.done_bytes) / static_cast<double>(progress.total_bytes));
  // From here on the pace alone counts.
  constexpr double kKnown = 0.05;
  const double trust = std::min(1.0, fraction / kKnown);
  const double bytes_per_s = progress.bytes_per_s();
  const double left_bytes = static_cast<double>(progress.total_bytes) * (1 - fraction);
  const double by_pace = bytes_per_s > 0 ? left_bytes / bytes_per_s : progress.expected_s * (1 - fraction);
  if (progress.expected_s <= 0) return trust < 0.2 ? -1 : by_pace;
  const double expected = std::max(0.0, progress.expected_s * (1 - fraction));
  return trust * by_pace + (1 - trust) * expected;
}

std::string limiting_stage(const Progress& earlier, const Progress& later) {
  const double wall_s = later.elapsed_s - earlier.elapsed_s;
  if (later.n_threads == 0 || wall_s <= 0) return "";
  const StageTotals& a = earlier.stages;
  const StageTotals& b = later.stages;
  const std::pair<const char*, double> of_threads[] = {
      {"decode", b.decode_s - a.decode_s},
      {"gather", b.gather_s - a.gather_s},
      {"encode", b.encode_s - a.encode_s},
      {"write", b.write_s - a.write_s},
  };
  double busy_s = 0;
  for (const auto& [name, seconds] : of_threads) busy_s += seconds;
  const double read_s = b.read_s - a.read_s;
  constexpr double kAllBusy = 0.75;
  constexpr double kOneReads = 0.5;
  if (busy_s >= kAllBusy * wall_s * later.n_threads)
    return std::max_element(std::begin(of_threads), std::end(of_threads),
                            [](const auto& x, const auto& y) { return x.second < y.second; })
        ->first;
  if (read_s >= kOneReads * wall_s) return "read";
  return busy_s + read_s > 0 ? "memory" : "";
}

}  // namespace chunkwise
