// Time that only goes forward.
#pragma once

#include <chrono>

namespace chunkwise {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace chunkwise
