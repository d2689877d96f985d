#include "model/lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

// Neighbours closer than this cannot be told apart by any prediction.
constexpr double kFinestRatio = 1.01;

/// Drops values that follow the last kept one too closely, but none of `keep`. Ascending in, ascending out.
std::vector<Index> thin(const std::vector<Index>& values, double ratio, std::span<const Index> keep) {
  std::vector<Index> result;
  for (const Index value : values) {
    const bool kept = std::find(keep.begin(), keep.end(), value) != keep.end();
    if (kept || result.empty() || static_cast<double>(value) >= static_cast<double>(result.back()) * ratio) {
      result.push_back(value);
    }
  }
  return result;
}

}  // namespace

std::uint64_t least_chunk_bytes(const SearchLimits& limits, double array_bytes) {
  constexpr double kManyChunks = 100e3;
  constexpr double kPage = 4 * 1024;
  constexpr double kEnough = 64 * 1024;
  const auto automatic = static_cast<std::uint64_t>(std::clamp(array_bytes / kManyChunks, kPage, kEnough));
  return std::min(limits.min_chunk_bytes.value_or(automatic), limits.max_chunk_bytes);
}

double client_bytes(const StoredArray& array, double chunk_bytes, const Device& device) {
  const bool decodes = array.decode.s_per_byte > 0;
  return std::max(1.0, device.in_flight.value) * chunk_bytes * (decodes ? 1 + array.stored_ratio : 1.0);
}

std::uint64_t greatest_chunk_bytes(const SearchLimits& limits, const StoredArray& array, const Device& device) {
  if (!limits.max_client_bytes) return limits.max_chunk_bytes;
  const double per_byte = client_bytes(array, 1, device);
  const double most = static_cast<double>(*limits.max_client_bytes) / per_byte;
  if (most < static_cast<double>(array.element_bytes)) {
    const double least = std::ceil(per_byte * static_cast<double>(array.element_bytes));
    throw Error(Code::budget,
                fmt::format("no chunk fits {} of client memory: {} are read at a time",
                            format_bytes(*limits.max_client_bytes), std::max(1.0, device.in_flight.value)),
                fmt::format("give --memory {} or more", format_bytes(static_cast<std::uint64_t>(least))));
  }
  return std::min(limits.max_chunk_bytes, static_cast<std::uint64_t>(std::min(most, 9e18)));
}

std::vector<Index> axis_lattice(Index length, std::span<const Index> extents) {
  std::vector<Index> keep = {1, length};
  for (const Index extent : extents) keep.push_back(extent);
  for (Index power = 2; power < length && power > 0; power *= 2) keep.push_back(power);
  std::vector<Index> values = keep;
  // ceil(length / k): every value once, jumping over the k that give the same, and over what thinning would drop.
  for (Index k = 1; k <= length;) {
    const Index value = ceil_div(length, k);
    values.push_back(value);
    if (value == 1) break;
    const Index next_distinct = (length - 1) / (value - 1) + 1;
    k = std::max(next_distinct, static_cast<Index>(std::ceil(static_cast<double>(k) * 1.002)));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return thin(values, kFinestRatio, keep);
}

}  // namespace chunkwise
