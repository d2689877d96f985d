// What single requests cost on the device under a folder, measured past the page cache.
#pragma once

#include <string>
#include <vector>

namespace chunkwise {

/// Seconds of requests of one kind, each measured by itself, in ascending order.
struct ProbeTimes {
  double size_bytes = 0;
  double gap_bytes = 0;  // forward to the next request; 0: at random places
  std::vector<double> seconds;

  double quantile(double q) const;
};

struct DeviceProbe {
  std::vector<ProbeTimes> random;  // one request at a time, from small to large
  std::vector<ProbeTimes> skips;   // 4 KiB every so often, forwards
  ProbeTimes opens;                // of small files that were never read: open, read, close
  ProbeTimes runs;                 // of 1 MiB in requests of 16 KiB, at random places
  double total_Bps = 0;            // several large requests in flight
  double sequential_Bps = 0;       // from one end to the other, one request after the other
  double queue_gain = 1;           // small random requests a second, eight in flight over one
  double readahead_bytes = 0;      // the kernel's limit for this device; 0: not known
  double resident_share = 0;       // pages still in the cache after it was emptied; 0 if all reads were cold
  double seconds = 0;              // all of it
};

/// Writes 256 MiB without a name and some hundreds of small files into `folder`, and reads parts of them in random
/// order; all are gone afterwards. Takes at most about `budget_s` once the files are written. Throws Error{io}.
DeviceProbe probe_device(const std::string& folder, double budget_s);

}  // namespace chunkwise
