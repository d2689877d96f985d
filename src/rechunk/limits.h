// What the machine could do at most for a rewrite, to tell how near it came.
#pragma once

#include <vector>

#include "array/dataset.h"
#include "rechunk/execute.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// Rates are of all threads and requests together; 0 where nothing of the kind was done.
struct Limits {
  double read_bytes_per_s = 0;    // the source's device, past the page cache
  double write_bytes_per_s = 0;   // the target's device, until durable
  double decode_bytes_per_s = 0;  // of decoded bytes
  double encode_bytes_per_s = 0;
  // Of the processor, for a byte from or to a device: the system's copies.
  double read_cpu_s_per_byte = 0;
  double write_cpu_s_per_byte = 0;

  // What each would take for this rewrite if it were alone.
  double read_s = 0;
  double write_s = 0;
  double decode_s = 0;
  double encode_s = 0;
  double transfer_s = 0;  // what the cores do for the devices, shared by all threads

  /// Of the cores: they decode, encode, and carry the bytes between devices and memory.
  double cores_s() const { return decode_s + encode_s + transfer_s; }
  /// Devices work beside the cores.
  double seconds() const;
  /// "cores", "read", "write": what takes that long.
  const char* name() const;
};

/// Measures the codecs on chunks of the rewrite itself, with all its threads at once, in about a second, and sets their
/// rates and seconds. `source` and `target` are readers of what was read and written; arrays as in execute().
void measure_codecs(const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources, const Reader& target,
                    const std::vector<ArrayMeta>& targets, Limits& limits);

}  // namespace chunkwise
