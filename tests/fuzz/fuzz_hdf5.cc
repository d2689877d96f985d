// Damages HDF5 files and opens them as the commands do. No damage may end in a signal, a hang or an internal error.
//
//   fuzz_hdf5 SECONDS [FIRST [FOLDER]]
//
// Case number n, counted from FIRST (default 1), is made from n alone, so that a failure is repeated with
// `fuzz_hdf5 0 n`. FOLDER has more files to start from; numbers then depend on what is in it. Files that fail stay in
// the working directory as fuzz-N.h5. Mended ones move to tests/fuzz/cases, which every run tries first.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "base/child_process.h"
#include "base/error.h"
#include "format/registry.h"
#include "seeds.h"

namespace {

using namespace chunkwise;
using Random = std::mt19937_64;

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t below(Random& random, std::size_t limit) {
  return static_cast<std::size_t>(random() % limit);
}

/// One to eight wounds of the kinds that disks, transfers and attackers make.
void damage(std::string& bytes, Random& random) {
  constexpr unsigned char kTelling[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  for (std::size_t n = 1 + below(random, 8); n > 0 && bytes.size() > 16; --n) {
    const std::size_t at = below(random, bytes.size() - 8);
    switch (below(random, 6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      case 2:
        bytes[at] = static_cast<char>(kTelling[below(random, std::size(kTelling))]);
        break;
      case 3:
        bytes.replace(at, 8, 8, static_cast<char>(kTelling[below(random, std::size(kTelling))]));
        break;
      case 4: {
        const std::size_t from = below(random, bytes.size() - 8);
        bytes.replace(at, 8, bytes.substr(from, 8));
        break;
      }
      default:
        if (below(random, 8) == 0) bytes.resize(at);
        break;
    }
  }
}

/// What the commands do with a source before its elements are decoded. The reply is the exit code, and the sentence.
std::string open_and_locate(const std::string& path) {
  const auto reader = [&]() -> std::unique_ptr<Reader> { return detect_format(path).open(path); }();
  for (const ArrayNode& array : reader->tree().arrays) {
    try {
      const auto source = reader->open_array(array.meta.path);
      const Index n_chunks = std::min<Index>(source->grid().n_chunks(), 100'000);
      for (Index i = 0; i < n_chunks; ++i) {
        try {
          source->locate(ChunkId{i});
        } catch (const Error& error) {
          if (error.code() != Code::corrupt) throw;
        }
      }
    } catch (const Error& error) {
      if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
    }
  }
  return "0";
}

/// Empty if all is well.
std::string complaint_about(const std::string& path) {
  ChildLimits limits;
  limits.cpu_s = 20;
  limits.extra_memory_bytes = std::uint64_t{4} << 30;
  const ChildResult result = run_in_child(limits, [&]() -> std::string {
    try {
      return open_and_locate(path);
    } catch (const Error& error) {
      return fmt::format("{} {}", static_cast<int>(error.code()), error.what());
    } catch (const std::exception& error) {
      return fmt::format("70 {}", error.what());
    }
  });
  if (result.end == ChildResult::End::out_of_time) return "no end";
  if (result.end != ChildResult::End::replied) return fmt::format("signal {}", result.signal);
  static const std::set<int> kAllowed = {0, 3, 4, 5};
  return kAllowed.contains(std::atoi(result.reply.c_str())) ? "" : "exit " + result.reply;
}

int run(double seconds, std::uint64_t first, const std::string& more_seeds) {
  const auto begin = std::chrono::steady_clock::now();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("chunkwise-fuzz-{}", std::random_device{}());
  std::filesystem::create_directories(folder);
  std::vector<std::string> seeds;
  for (const std::string& path : fuzz::make_seeds(folder)) seeds.push_back(read_whole(path));
  if (!more_seeds.empty()) {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(more_seeds))
      if (entry.is_regular_file() && entry.file_size() < 1'000'000) paths.insert(entry.path());
    for (const auto& path : paths) seeds.push_back(read_whole(path));
  }

  int n_failed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CHUNKWISE_SOURCE_DIR "/tests/fuzz/cases")) {
    const std::string complaint = complaint_about(entry.path());
    if (complaint.empty()) continue;
    ++n_failed;
    fmt::print("FAILED {}: {}\n", entry.path().string(), complaint);
  }
  const std::string path = folder / "case.h5";
  std::uint64_t n = first;
  do {
    Random random(n);
    std::string bytes = seeds[below(random, seeds.size())];
    damage(bytes, random);
    std::ofstream(path, std::ios::binary) << bytes;
    const std::string complaint = complaint_about(path);
    if (!complaint.empty()) {
      ++n_failed;
      std::filesystem::copy_file(path, fmt::format("fuzz-{}.h5", n), std::filesystem::copy_options::overwrite_existing);
      fmt::print("FAILED case {}: {} (kept as fuzz-{}.h5)\n", n, complaint, n);
    }
    ++n;
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds);
  std::filesystem::remove_all(folder);
  fmt::print("{} cases from {} seeds, {} failed\n", n - first, seeds.size(), n_failed);
  return n_failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return run(seconds, first, argc > 3 ? argv[3] : "");
}
