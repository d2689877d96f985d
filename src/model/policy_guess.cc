// The guess of h5py, which zarr-python took over with larger sizes: halve the axes in turn until the chunk is near a
// target that grows with the array.
#include <algorithm>
#include <cmath>

#include "model/policy.h"

namespace chunkwise {
namespace {

struct GuessSizes {
  double base_bytes;  // the target of a 1 MiB array
  double min_bytes;
  double max_bytes;
};
constexpr GuessSizes kH5py = {16 * 1024.0, 8 * 1024.0, 1024 * 1024.0};
constexpr GuessSizes kZarrInShards = {256 * 1024.0, 128 * 1024.0, 1024 * 1024.0};
constexpr GuessSizes kZarr = {256 * 1024.0, 128 * 1024.0, 64 * 1024 * 1024.0};

double elements_in(const std::vector<double>& chunk) {
  double n = 1;
  for (const double length : chunk) n *= length;
  return n;
}

Shape guess(const PolicyInput& input, const GuessSizes& sizes, double length_of_empty) {
  std::vector<double> chunk;
  for (const Index length : input.shape) chunk.push_back(length == 0 ? length_of_empty : static_cast<double>(length));
  const auto element_bytes = static_cast<double>(input.element_bytes);
  const double total_bytes = elements_in(chunk) * element_bytes;
  const double target_bytes = std::clamp(sizes.base_bytes * std::pow(2.0, std::log10(total_bytes / (1024.0 * 1024))),
                                         sizes.min_bytes, sizes.max_bytes);
  for (std::size_t axis = 0;; axis = (axis + 1) % chunk.size()) {
    const double n = elements_in(chunk);
    const double bytes = n * element_bytes;
    const bool near = bytes < target_bytes || std::abs(bytes - target_bytes) / target_bytes < 0.5;
    if ((near && bytes < sizes.max_bytes) || n <= 1) break;
    chunk[axis] = std::ceil(chunk[axis] / 2);
  }
  Shape result;
  for (const double length : chunk) result.push_back(static_cast<Index>(length));
  return result;
}

}  // namespace

Shape chunk_h5py(const PolicyInput& input, std::uint64_t) {
  return guess(input, kH5py, 1024);
}

Shape chunk_zarr(const PolicyInput& input, std::uint64_t) {
  return guess(input, kZarr, 1);
}

Shape chunk_zarr_shards(const PolicyInput& input, std::uint64_t) {
  return guess(input, kZarrInShards, 1);
}

/// Two chunks along every axis that has more than eight.
Shape shard_zarr(const PolicyInput& input, const Shape& chunk) {
  Shape shard = chunk;
  for (int axis = 0; axis < shard.rank(); ++axis) {
    if (input.shape[axis] / chunk[axis] > 8) shard[axis] *= 2;
  }
  return shard;
}

}  // namespace chunkwise
