// Work that may crash, hang or eat all memory, in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace chunkwise {

/// What the child may use.
struct ChildLimits {
  /// Of the processor, not of the clock: what hangs computes, and waiting for a slow disk must not count.
  std::uint64_t cpu_s = 10;
  /// Address space on top of what this process has now.
  std::uint64_t extra_memory_bytes = std::uint64_t{1} << 30;
};

struct ChildResult {
  enum class End {
    replied,        // the work returned; `reply` is whole
    crashed,        // by `signal`, or by ending without a reply (signal 0)
    out_of_time,    // the limit on the processor
    out_of_memory,  // the work threw std::bad_alloc
  };
  End end = End::crashed;
  int signal = 0;
  std::string reply;
};

/// Runs `work` in a forked copy of this process and returns its reply. The child has the limits, no core file, and no
/// standard streams; it dies with the thread that called. Exceptions other than std::bad_alloc count as a crash: `work`
/// turns what it wants to tell into a reply. The child has only the calling thread, so `work` must not need a mutex
/// that another thread may hold now, nor start threads. Throws Error{io} if the system refuses a process or a pipe.
ChildResult run_in_child(const ChildLimits& limits, const std::function<std::string()>& work);

}  // namespace chunkwise
