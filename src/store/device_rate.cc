#include "store/device_rate.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kBlockBytes = 2u << 20;
constexpr std::uint64_t kMostReadBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostWrittenBytes = 256u << 20;
constexpr double kMostSeconds = 1;
constexpr int kRequestsInFlight = 4;
constexpr std::size_t kMostFiles = 4096;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Counts from when it is made.
class Stopwatch {
 public:
  double seconds() const { return seconds_since(begin_); }
  DeviceRate rate(std::uint64_t bytes) const {
    if (bytes == 0) return {};
    const auto n = static_cast<double>(bytes);
    return {n / std::max(seconds(), 1e-9), (cpu_seconds() - begin_cpu_s_) / n};
  }

 private:
  Clock::time_point begin_ = Clock::now();
  double begin_cpu_s_ = cpu_seconds();
};

struct Block {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// Files of a path, in the order in which a directory lists them.
std::vector<std::string> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (auto at = fs::recursive_directory_iterator(path, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error)) {
    if (!at->is_regular_file(error) || at->is_symlink(error)) continue;
    files.push_back(at->path().string());
    if (files.size() == kMostFiles) break;
  }
  return files;
}

/// Blocks to read, no more than kMostReadBytes; what of them is in the page cache is dropped.
std::vector<Block> cold_blocks(const std::vector<std::string>& files) {
  std::vector<Block> blocks;
  std::uint64_t total_bytes = 0;
  for (std::size_t i = 0; i < files.size() && total_bytes < kMostReadBytes; ++i) {
    const posix::Descriptor fd(::open(files[i].c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) posix::throw_io("open", files[i], errno);
    static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    for (std::uint64_t at = 0; at < size && total_bytes < kMostReadBytes; at += kBlockBytes) {
      blocks.push_back({i, at, std::min(kBlockBytes, size - at)});
      total_bytes += blocks.back().size_bytes;
    }
  }
  return blocks;
}

}  // namespace

DeviceRate measure_read_rate(const std::string& path) {
  const std::vector<std::string> files = files_of(path);
  const std::vector<Block> blocks = cold_blocks(files);
  if (blocks.empty()) return {};
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> read_bytes{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const Stopwatch watch;
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < kRequestsInFlight; ++i) {
      readers.emplace_back([&] {
        try {
          Bytes buffer(static_cast<std::size_t>(kBlockBytes));
          for (;;) {
            const std::size_t at = next++;
            if (at >= blocks.size() || watch.seconds() > kMostSeconds) return;
            const Block& block = blocks[at];
            const posix::Descriptor fd(::open(files[block.file].c_str(), O_RDONLY | O_CLOEXEC));
            if (!fd) posix::throw_io("open", files[block.file], errno);
            const auto size = static_cast<std::size_t>(block.size_bytes);
            posix::read_at(fd.get(), block.offset, buffer.span().first(size), files[block.file]);
            read_bytes += block.size_bytes;
          }
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
  return watch.rate(read_bytes);
}

DeviceRate measure_write_rate(const std::string& folder) {
  const std::string& name = folder;
  const posix::Descriptor fd = posix::nameless_file(folder);
  Bytes block(static_cast<std::size_t>(kBlockBytes));
  // Bytes that no device can make less of.
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::size_t at = 0; at < block.size(); at += sizeof state) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    std::memcpy(block.data() + at, &state, sizeof state);
  }
  const Stopwatch watch;
  std::uint64_t written_bytes = 0;
  while (written_bytes < kMostWrittenBytes && watch.seconds() < kMostSeconds) {
    posix::write_all(fd.get(), block, name);
    // As a long rewrite does, so that the device works from the start.
    static_cast<void>(::sync_file_range(fd.get(), static_cast<off_t>(written_bytes), static_cast<off_t>(kBlockBytes),
                                        SYNC_FILE_RANGE_WRITE));
    written_bytes += kBlockBytes;
  }
  if (::fdatasync(fd.get()) != 0) posix::throw_io("write", name, errno);
  return watch.rate(written_bytes);
}

}  // namespace chunkwise
