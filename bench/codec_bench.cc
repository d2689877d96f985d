// Speed and ratio of codec chains on a smooth float32 field, one thread. Speeds count decoded bytes.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codec/chain.h"
#include "codec/registry.h"

namespace {

constexpr int kSide = 512;  // 512 x 512 float32: a chunk of 1 MiB

/// Smooth in both axes with a little noise, quantised to 1/64 as analyses are.
std::vector<std::byte> smooth_field() {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0.0, 0.05);
  std::vector<std::byte> bytes(sizeof(float) * kSide * kSide);
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const double value = 280.0 + 15.0 * std::sin(0.011 * i) * std::cos(0.017 * j) + noise(random);
      const auto quantised = static_cast<float>(std::round(value * 64.0) / 64.0);
      std::memcpy(&bytes[sizeof(float) * static_cast<std::size_t>(i * kSide + j)], &quantised, sizeof(float));
    }
  }
  return bytes;
}

void encode(benchmark::State& state, const std::string& codecs) {
  const auto field = smooth_field();
  const chunkwise::CodecChain chain(chunkwise::parse_codecs(codecs), sizeof(float));
  chunkwise::CodecChain::Scratch scratch;
  std::size_t encoded_bytes = 0;
  for (auto _ : state) {
    encoded_bytes = chain.encode(field, scratch).size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(field.size()));
  state.counters["ratio"] = static_cast<double>(field.size()) / static_cast<double>(encoded_bytes);
}

/// What other writers of HDF5 do: zlib's level 1 after the shuffle. Only the deflating is timed.
void encode_with_zlib(benchmark::State& state) {
  const auto field = smooth_field();
  const chunkwise::CodecChain chain(chunkwise::parse_codecs("shuffle"), sizeof(float));
  chunkwise::CodecChain::Scratch scratch;
  const auto shuffled = chain.encode(field, scratch);
  std::vector<Bytef> encoded(compressBound(shuffled.size()));
  uLongf encoded_bytes = 0;
  for (auto _ : state) {
    encoded_bytes = encoded.size();
    compress2(encoded.data(), &encoded_bytes, reinterpret_cast<const Bytef*>(shuffled.data()), shuffled.size(), 1);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(field.size()));
  state.counters["ratio"] = static_cast<double>(field.size()) / static_cast<double>(encoded_bytes);
}

void decode(benchmark::State& state, const std::string& codecs) {
  const auto field = smooth_field();
  const chunkwise::CodecChain chain(chunkwise::parse_codecs(codecs), sizeof(float));
  chunkwise::CodecChain::Scratch scratch;
  const auto view = chain.encode(field, scratch);
  const std::vector<std::byte> encoded(view.begin(), view.end());
  for (auto _ : state) {
    benchmark::DoNotOptimize(chain.decode(encoded, field.size(), 0, scratch).data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(field.size()));
}

const bool registered = [] {
  benchmark::RegisterBenchmark("encode/zlib level 1, for comparison", encode_with_zlib);
  for (const char* codecs : {"shuffle", "deflate:1", "gzip:1", "shuffle,deflate:1", "shuffle,deflate:4",
                             "shuffle,deflate:9", "shuffle,zstd:1", "shuffle,zstd:3", "shuffle,lz4",
                             "blosc:lz4:5:shuffle", "blosc:zstd:1:shuffle", "fletcher32", "crc32c"}) {
    benchmark::RegisterBenchmark((std::string("encode/") + codecs).c_str(), encode, std::string(codecs));
    benchmark::RegisterBenchmark((std::string("decode/") + codecs).c_str(), decode, std::string(codecs));
  }
  return true;
}();

}  // namespace
