#include "store/device_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/bytes.h"
#include "base/clock.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kFile_bytes = 256 * kMiB;
constexpr int kSmallFiles = 200;
constexpr int kInFlight = 8;

/// Bytes that no device can make less of.
Bytes noise(std::size_t size) {
  Bytes block(size);
  std::mt19937_64 random(0x9e3779b97f4a7c15);
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(block.data() + at, &word, sizeof word);
  }
  return block;
}

/// A folder of its own, removed at the end with what is in it.
class ProbeFolder {
 public:
  explicit ProbeFolder(const std::string& parent) : path_(parent + "/.chunkadvise-probe-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) posix::throw_io("create", path_, errno);
  }
  ProbeFolder(const ProbeFolder&) = delete;
  ProbeFolder& operator=(const ProbeFolder&) = delete;
  ~ProbeFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class SmallFiles {
 public:
  explicit SmallFiles(const std::string& folder) : folder_(folder) {
    const Bytes block = noise(64 * kKiB);
    for (int i = 0; i < kSmallFiles; ++i) {
      const std::string path = name(i);
      const posix::Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
      if (!fd) posix::throw_io("create", path, errno);
      posix::write_all(fd.get(), block, path);
      if (::fdatasync(fd.get()) != 0) posix::throw_io("write", path, errno);
      static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
    }
  }

  std::string name(int i) const { return fmt::format("{}/{}", folder_.path(), i); }

 private:
  ProbeFolder folder_;  // goes even if the files cannot be written
};

class BigFile {
 public:
  explicit BigFile(const std::string& folder) : folder_(folder), fd_(posix::nameless_file(folder)) {
    const Bytes block = noise(static_cast<std::size_t>(4 * kMiB));
    for (std::uint64_t at = 0; at < kFile_bytes; at += block.size()) posix::write_all(fd_.get(), block, folder_);
    if (::fdatasync(fd_.get()) != 0) posix::throw_io("write", folder_, errno);
  }

  /// Empties the page cache of the file; the share of pages that stayed.
  double drop() const {
    static_cast<void>(::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED));
    void* map = ::mmap(nullptr, kFile_bytes, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (map == MAP_FAILED) posix::throw_io("map", folder_, errno);
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident(kFile_bytes / page);
    const bool known = ::mincore(map, kFile_bytes, resident.data()) == 0;
    ::munmap(map, kFile_bytes);
    if (!known) return 0;
    const auto n = std::count_if(resident.begin(), resident.end(), [](unsigned char c) { return (c & 1U) != 0; });
    return static_cast<double>(n) / static_cast<double>(resident.size());
  }

  /// What the kernel reads ahead on this device at most; 0 if it does not say.
  double readahead_bytes() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return 0;
    std::ifstream file(fmt::format("/sys/class/bdi/{}:{}/read_ahead_kb", major(status.st_dev), minor(status.st_dev)));
    double kib = 0;
    return file >> kib ? kib * 1024 : 0;
  }

  void read(std::uint64_t offset, MutableByteView out) const { posix::read_at(fd_.get(), offset, out, folder_); }

 private:
  std::string folder_;
  posix::Descriptor fd_;
};

/// Reads of `size` bytes at these places, one after the other; some at least, then until the time is over. Ascending.
ProbeTimes time_reads(const BigFile& file, std::uint64_t size, const std::vector<std::uint64_t>& places,
                      double budget_s) {
  ProbeTimes times;
  times.size_bytes = static_cast<double>(size);
  Bytes buffer(static_cast<std::size_t>(size));
  const auto begin = Clock::now();
  for (const std::uint64_t at : places) {
    if (times.seconds.size() >= 7 && seconds_since(begin) > budget_s) break;
    const auto one = Clock::now();
    file.read(at, buffer.span());
    times.seconds.push_back(seconds_since(one));
  }
  std::sort(times.seconds.begin(), times.seconds.end());
  return times;
}

ProbeTimes probe_random(const BigFile& file, std::uint64_t size, double budget_s, std::mt19937_64& random) {
  // Each place once, so that none is in the cache.
  std::vector<std::uint64_t> places;
  const std::uint64_t distance = std::max(size, kMiB);
  for (std::uint64_t at = 0; at + size <= kFile_bytes; at += distance) places.push_back(at);
  std::shuffle(places.begin(), places.end(), random);
  return time_reads(file, size, places, budget_s);
}

ProbeTimes probe_skips(const BigFile& file, std::uint64_t gap, double budget_s) {
  constexpr std::uint64_t kSize = 4 * kKiB;
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; at + kSize <= kFile_bytes; at += kSize + gap) places.push_back(at);
  ProbeTimes times = time_reads(file, kSize, places, budget_s);
  times.gap_bytes = static_cast<double>(gap);
  return times;
}

/// Each round opens its own half of the files.
ProbeTimes probe_opens(const SmallFiles& files, int round, double budget_s) {
  ProbeTimes times;
  times.size_bytes = static_cast<double>(4 * kKiB);
  Bytes buffer(static_cast<std::size_t>(4 * kKiB));
  const auto begin = Clock::now();
  for (int i = round; i < kSmallFiles; i += 2) {
    if (times.seconds.size() >= 7 && seconds_since(begin) > budget_s) break;
    // A large stride, so that neighbours on the device do not follow each other.
    const std::string path = files.name(i * 77 % kSmallFiles);
    const auto one = Clock::now();
    const posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) posix::throw_io("open", path, errno);
    posix::read_at(fd.get(), 0, buffer.span(), path);
    times.seconds.push_back(seconds_since(one));
  }
  std::sort(times.seconds.begin(), times.seconds.end());
  return times;
}

/// Runs of neighbouring requests, each run as one time.
ProbeTimes probe_runs(const BigFile& file, double budget_s, std::mt19937_64& random) {
  constexpr std::uint64_t kRun = kMiB;
  constexpr std::uint64_t kRequest = 16 * kKiB;
  // What is read ahead of one run must not be the next one.
  constexpr std::uint64_t kDistance = 12 * kMiB;
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = kMiB; at + kRun <= kFile_bytes; at += kDistance) places.push_back(at);
  std::shuffle(places.begin(), places.end(), random);
  ProbeTimes times;
  times.size_bytes = static_cast<double>(kRun);
  Bytes buffer(static_cast<std::size_t>(kRequest));
  const auto begin = Clock::now();
  for (const std::uint64_t place : places) {
    if (times.seconds.size() >= 7 && seconds_since(begin) > budget_s) break;
    const auto one = Clock::now();
    for (std::uint64_t at = place; at < place + kRun; at += kRequest) file.read(at, buffer.span());
    times.seconds.push_back(seconds_since(one));
  }
  std::sort(times.seconds.begin(), times.seconds.end());
  return times;
}

double probe_sequential(const BigFile& file, double budget_s) {
  Bytes buffer(static_cast<std::size_t>(kMiB));
  const auto begin = Clock::now();
  std::uint64_t at = 0;
  for (; at + kMiB <= kFile_bytes && seconds_since(begin) < budget_s; at += kMiB) file.read(at, buffer.span());
  return static_cast<double>(at) / std::max(1e-9, seconds_since(begin));
}

/// Seconds a request of 64 KiB takes with so many under way.
double probe_queue(const BigFile& file, int n_readers, double budget_s, std::mt19937_64& random) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; at + kMiB <= kFile_bytes; at += kMiB) places.push_back(at + 64 * kKiB);
  std::shuffle(places.begin(), places.end(), random);
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> n_read{0};
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < n_readers; ++i) {
      readers.emplace_back([&] {
        Bytes buffer(static_cast<std::size_t>(64 * kKiB));
        for (;;) {
          const std::size_t i_place = next++;
          if (i_place >= places.size() || seconds_since(begin) > budget_s) return;
          file.read(places[i_place], buffer.span());
          ++n_read;
        }
      });
    }
  }
  return seconds_since(begin) / static_cast<double>(std::max<std::size_t>(1, n_read));
}

double probe_total(const BigFile& file, double budget_s) {
  constexpr std::uint64_t kBlock = 2 * kMiB;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> read_bytes{0};
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < kInFlight; ++i) {
      readers.emplace_back([&] {
        Bytes buffer(static_cast<std::size_t>(kBlock));
        for (;;) {
          const std::uint64_t at = kBlock * next++;
          if (at + kBlock > kFile_bytes || seconds_since(begin) > budget_s) return;
          file.read(at, buffer.span());
          read_bytes += kBlock;
        }
      });
    }
  }
  return static_cast<double>(read_bytes) / std::max(1e-9, seconds_since(begin));
}

}  // namespace

double ProbeTimes::quantile(double q) const {
  if (seconds.empty()) return 0;
  const double at = q * static_cast<double>(seconds.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, seconds.size() - 1);
  return seconds[low] + (at - static_cast<double>(low)) * (seconds[high] - seconds[low]);
}

namespace {

void add(ProbeTimes& all, const ProbeTimes& more) {
  all.size_bytes = more.size_bytes;
  all.gap_bytes = more.gap_bytes;
  all.seconds.insert(all.seconds.end(), more.seconds.begin(), more.seconds.end());
  std::sort(all.seconds.begin(), all.seconds.end());
}

}  // namespace

DeviceProbe probe_device(const std::string& folder, double budget_s) {
  // Devices have moods of seconds, and shared ones of minutes: every probe is made twice, far apart.
  constexpr int kRounds = 2;
  constexpr std::array<std::uint64_t, 4> kSizes = {4 * kKiB, 64 * kKiB, kMiB, 8 * kMiB};
  constexpr std::array<std::uint64_t, 4> kGaps = {64 * kKiB, 256 * kKiB, kMiB, 4 * kMiB};
  const auto begin = Clock::now();
  DeviceProbe probe;
  probe.random.resize(kSizes.size());
  probe.skips.resize(kGaps.size());
  probe.queue_gain = 0;
  std::mt19937_64 random(12);
  const BigFile file(folder);
  const SmallFiles small(folder);
  const double share_s = budget_s / 14 / kRounds;
  const auto cold = [&] { probe.resident_share = std::max(probe.resident_share, file.drop()); };
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      cold();
      add(probe.random[i], probe_random(file, kSizes[i], 1.5 * share_s, random));
    }
    for (std::size_t i = 0; i < kGaps.size(); ++i) {
      cold();
      add(probe.skips[i], probe_skips(file, kGaps[i], share_s));
    }
    add(probe.opens, probe_opens(small, round, share_s));
    cold();
    add(probe.runs, probe_runs(file, share_s, random));
    cold();
    probe.total_Bps += probe_total(file, share_s) / kRounds;
    cold();
    probe.sequential_Bps += probe_sequential(file, share_s) / kRounds;
    cold();
    const double alone_s = probe_queue(file, 1, share_s / 2, random);
    cold();
    probe.queue_gain += alone_s / probe_queue(file, kInFlight, share_s / 2, random) / kRounds;
  }
  probe.queue_gain = std::max(1.0, probe.queue_gain);
  probe.readahead_bytes = file.readahead_bytes();
  probe.seconds = seconds_since(begin);
  return probe;
}

}  // namespace chunkwise
