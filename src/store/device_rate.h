// How fast the device under a path reads and writes, measured.
#pragma once

#include <string>

namespace chunkwise {

/// Bytes per second of reading the file, or the files of the directory, at `path` past the page cache: several requests
/// in flight, a second and 1 GiB at most. Whoever reads them next finds some of them in the cache. 0 if there is
/// nothing to read. Throws Error{io}.
double measure_read_rate(const std::string& path);

/// Bytes per second of writing a temporary file in `folder` until it is durable, 256 MiB or a second. The file is gone
/// afterwards, also after a crash, where the system can make files without a name. Throws Error{io}.
double measure_write_rate(const std::string& folder);

}  // namespace chunkwise
