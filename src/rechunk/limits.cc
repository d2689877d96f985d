#include "rechunk/limits.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "codec/chain.h"

namespace chunkwise {
namespace {

constexpr double kSecondsPerMeasurement = 0.4;
constexpr std::size_t kMostChunks = 64;
constexpr std::uint64_t kMostSample_bytes = 16u << 20;
/// Arrays that are less of the work than this count at the rate of the others.
constexpr double kLeastShare = 0.05;

/// Encoded chunks of an array from all over it.
struct Sample {
  ReadBatch batch;
  std::vector<EncodedChunk> chunks;
  std::vector<std::size_t> decoded_bytes;
};

Sample take_sample(const ArraySource& source) {
  const ArrayMeta& meta = source.meta();
  const ChunkGrid& grid = source.grid();
  Sample sample;
  std::vector<ChunkId> ids;
  std::uint64_t bytes = 0;
  const Index step = std::max<Index>(1, grid.n_chunks() / static_cast<Index>(kMostChunks));
  for (Index i = step / 2; i < grid.n_chunks() && ids.size() < kMostChunks; i += step) {
    const ChunkRef ref = source.locate(ChunkId{i});
    if (std::holds_alternative<Absent>(ref)) continue;
    bytes += most_bytes(ref);
    if (!ids.empty() && bytes > kMostSample_bytes) break;
    ids.push_back(ChunkId{i});
  }
  if (ids.empty()) return sample;
  source.read(ids, sample.batch);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const EncodedChunk& chunk = sample.batch.chunks[i];
    if (chunk.absent) continue;
    const Box box = meta.pads_edges ? grid.full_box(ids[i]) : grid.box(ids[i]);
    sample.chunks.push_back(chunk);
    sample.decoded_bytes.push_back(static_cast<std::size_t>(product(box.shape)) * meta.dtype.bytes);
  }
  return sample;
}

/// Decoded bytes per second of all threads, which do `work` on one chunk of the sample after the other.
template <typename Work>
double rate(const Sample& sample, int n_threads, const Work& work) {
  if (sample.decoded_bytes.empty()) return 0;
  std::atomic<std::uint64_t> bytes{0};
  const Clock::time_point begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < n_threads; ++thread) {
      threads.emplace_back([&, thread] {
        CodecChain::Scratch scratch;
        for (std::size_t i = static_cast<std::size_t>(thread); seconds_since(begin) < kSecondsPerMeasurement; ++i) {
          const std::size_t at = i % sample.decoded_bytes.size();
          bytes += work(at, scratch);
        }
      });
    }
  }
  return static_cast<double>(bytes) / std::max(seconds_since(begin), 1e-9);
}

double decode_rate(const ArraySource& source, int n_threads) {
  const Sample sample = take_sample(source);
  const CodecChain chain(source.meta().codecs, source.meta().dtype.bytes);
  return rate(sample, n_threads, [&](std::size_t at, CodecChain::Scratch& scratch) {
    const EncodedChunk& chunk = sample.chunks[at];
    chain.decode(chunk.bytes, sample.decoded_bytes[at], chunk.skipped_codecs, scratch);
    return sample.decoded_bytes[at];
  });
}

/// From chunks of the target, decoded once and encoded again and again.
double encode_rate(const ArraySource& target, int n_threads) {
  const Sample sample = take_sample(target);
  const CodecChain chain(target.meta().codecs, target.meta().dtype.bytes);
  std::vector<Bytes> decoded;
  CodecChain::Scratch scratch;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < sample.decoded_bytes.size() && bytes < kMostSample_bytes; ++i) {
    const EncodedChunk& chunk = sample.chunks[i];
    decoded.push_back(
        Bytes::copy_of(chain.decode(chunk.bytes, sample.decoded_bytes[i], chunk.skipped_codecs, scratch)));
    bytes += decoded.back().size();
  }
  return rate(sample, n_threads, [&](std::size_t at, CodecChain::Scratch& own) {
    const Bytes& chunk = decoded[at % decoded.size()];
    chain.encode(chunk, own);
    return chunk.size();
  });
}

/// Adds up what arrays take, measuring the large ones.
class Stage {
 public:
  void add(double bytes, double rate) {
    if (rate > 0) {
      seconds_ += bytes / rate;
      measured_bytes_ += bytes;
    } else {
      other_bytes_ += bytes;
    }
  }
  double rate() const { return seconds_ > 0 ? measured_bytes_ / seconds_ : 0; }
  double seconds() const { return seconds_ > 0 ? seconds_ + other_bytes_ / rate() : 0; }

 private:
  double seconds_ = 0;
  double measured_bytes_ = 0;
  double other_bytes_ = 0;
};

}  // namespace

double Limits::seconds() const {
  return std::max({read_s, write_s, cores_s()});
}

const char* Limits::name() const {
  if (seconds() == read_s) return "read";
  return seconds() == write_s ? "write" : "cores";
}

void measure_codecs(const Plan& plan, const Reader& source, const std::vector<ArrayMeta>& sources, const Reader& target,
                    const std::vector<ArrayMeta>& targets, Limits& limits) {
  double total_bytes = 0;
  for (const ArrayPlan& array : plan.arrays) total_bytes += static_cast<double>(array.decoded_bytes);
  Stage decode;
  Stage encode;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayPlan& array = plan.arrays[i];
    if (array.kind != ArrayPlan::Kind::rewrite) continue;
    const auto bytes = static_cast<double>(array.decoded_bytes);
    const bool large = bytes >= kLeastShare * total_bytes;
    if (!sources[i].codecs.empty())
      decode.add(bytes * array.passes, large ? decode_rate(*source.open_array(sources[i].path), plan.n_threads) : 0);
    if (!targets[i].codecs.empty())
      encode.add(bytes, large ? encode_rate(*target.open_array(targets[i].path), plan.n_threads) : 0);
  }
  limits.decode_bytes_per_s = decode.rate();
  limits.encode_bytes_per_s = encode.rate();
  limits.decode_s = decode.seconds();
  limits.encode_s = encode.seconds();
}

}  // namespace chunkwise
