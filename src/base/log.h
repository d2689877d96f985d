// Messages to whoever runs us. The library never prints.
#pragma once

#include <functional>
#include <string>

namespace chunkwise {

enum class LogLevel { debug, info, warning };

/// Called from any thread, one call at a time per Log. Must not throw.
using LogSink = std::function<void(LogLevel, const std::string&)>;

}  // namespace chunkwise
