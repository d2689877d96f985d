#include "base/process_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

namespace chunkwise {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word) || word.empty() || word == "max") return std::nullopt;
  try {
    return std::stoull(word);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::uint64_t machine_available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("MemAvailable:", 0) != 0) continue;
    std::uint64_t kib = 0;
    std::istringstream(line.substr(13)) >> kib;
    return kib * 1024;
  }
  return kUnknown;
}

struct OwnPages {
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
};

OwnPages own_pages() {
  std::ifstream file("/proc/self/statm");
  OwnPages pages;
  return file >> pages.mapped >> pages.resident ? pages : OwnPages{};
}

/// Room under one control group: limit minus use, where both are known.
std::uint64_t room(const std::string& limit_path, const std::string& use_path) {
  const auto limit = read_number(limit_path);
  if (!limit || *limit >= (std::uint64_t{1} << 60)) return kUnknown;
  return *limit - std::min(*limit, read_number(use_path).value_or(0));
}

std::uint64_t cgroup_available_bytes() {
  std::uint64_t least = kUnknown;
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    const bool v2 = controllers.empty();
    if (!v2 && controllers != "memory") continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    // A limit may stand at any level above us.
    for (;;) {
      const std::string folder = root + (path == "/" ? "" : path);
      least = std::min(least, v2 ? room(folder + "/memory.max", folder + "/memory.current")
                                 : room(folder + "/memory.limit_in_bytes", folder + "/memory.usage_in_bytes"));
      if (path.empty() || path == "/") break;
      path = path.substr(0, path.rfind('/'));
    }
  }
  return least;
}

}  // namespace

std::uint64_t resident_bytes() {
  return own_pages().resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t mapped_bytes() {
  return own_pages().mapped * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void give_back_freed_memory() {
#ifdef __GLIBC__
  static_cast<void>(::malloc_trim(0));
#endif
}

std::uint64_t available_memory_bytes() {
  std::uint64_t available = std::min(machine_available_bytes(), cgroup_available_bytes());
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    available = std::min<std::uint64_t>(available, limit.rlim_cur);
  if (available == kUnknown) return std::uint64_t{1} << 30;
  return std::max<std::uint64_t>(available, 1);
}

}  // namespace chunkwise
