// Reading what is on the disk rather than what the system remembers of it.
#pragma once

#include <string>

namespace chunkwise {

/// Asks the system to forget what it holds in memory of a file, or of all files in a folder. What is not durable yet
/// stays. Best effort: file systems without a disk of their own keep everything.
void forget_cached(const std::string& path);

}  // namespace chunkwise
