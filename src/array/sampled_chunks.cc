#include "array/sampled_chunks.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <string>

#include "base/for_each_index.h"

namespace chunkwise {
namespace {

constexpr Index kMostListed = 4096;
constexpr Index kSampled = 512;
/// The device waits, not the processor.
constexpr int kThreads = 8;
/// Multiples of it, without their whole part, cover [0, 1) evenly, and meet no period of a grid.
constexpr double kGolden = 0.6180339887498949;

}  // namespace

Index ChunkSample::about_count(Index n_chunks) const {
  if (n_looked_at == 0 || n_found == n_looked_at) return n_looked_at == 0 ? 0 : n_chunks;
  return static_cast<Index>(
      std::llround(static_cast<double>(n_found) / static_cast<double>(n_looked_at) * static_cast<double>(n_chunks)));
}

std::uint64_t ChunkSample::about_bytes(Index n_chunks) const {
  if (n_looked_at == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(found_bytes) / static_cast<double>(n_looked_at) *
                                    static_cast<double>(n_chunks));
}

bool is_worth_sampling(const ChunkGrid& grid) {
  return grid.n_chunks() > kMostListed;
}

ChunkSample sample_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid) {
  ChunkSample sample;
  sample.n_looked_at = std::min(grid.n_chunks(), kSampled);
  std::mutex mutex;
  for_each_index(kThreads, static_cast<std::size_t>(sample.n_looked_at), [&](std::size_t i, std::size_t) {
    double whole = 0;
    const double part = std::modf(static_cast<double>(i) * kGolden, &whole);
    const auto id = std::min(static_cast<Index>(part * static_cast<double>(grid.n_chunks())), grid.n_chunks() - 1);
    const std::optional<std::uint64_t> size = store.size_bytes(keys.key(grid.coords(ChunkId{id})));
    if (!size) return;
    const std::lock_guard lock(mutex);
    ++sample.n_found;
    sample.found_bytes += *size;
  });
  return sample;
}

void take_estimate(const ChunkSample& sample, ArrayMeta& meta) {
  const Index n_chunks = meta.grid().n_chunks();
  meta.stored_bytes = sample.about_bytes(ChunkGrid(meta.shape, meta.unit()).n_chunks());
  meta.n_stored_chunks = std::clamp<Index>(sample.about_count(n_chunks), 1, n_chunks - 1);
  meta.count_is_estimate = true;
}

}  // namespace chunkwise
