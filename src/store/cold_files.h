// Files whose pages are not in memory, so that the next read of them is of the device.
#pragma once

#include <string>

namespace chunkwise {

/// Writes back and drops the cached pages of a file, or of every file in a folder; needs no rights but to read them.
/// The share of pages that are in memory still, by mincore: 0 if all of it is cold. Throws Error{io}, Error{not_found}.
double drop_cached_pages(const std::string& path);

}  // namespace chunkwise
