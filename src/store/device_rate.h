// How fast the device under a path reads and writes, and what that takes of the processor, measured.
#pragma once

#include <string>

namespace chunkwise {

struct DeviceRate {
  double bytes_per_s = 0;
  /// What the processor does for it: the system's copies, the page cache.
  double cpu_s_per_byte = 0;
};

/// Reading the file, or the files of the directory, at `path` past the page cache: several requests in flight, a
/// second and 1 GiB at most. Whoever reads them next finds some of them in the cache. Zeros if there is nothing to
/// read. Nothing else should run in this process. Throws Error{io}.
DeviceRate measure_read_rate(const std::string& path);

/// Writing a temporary file in `folder` until it is durable, 256 MiB or a second. The file is gone afterwards, also
/// after a crash, where the system can make files without a name. Nothing else should run in this process. Throws
/// Error{io}.
DeviceRate measure_write_rate(const std::string& folder);

}  // namespace chunkwise
