// What other array libraries choose by themselves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string>

#include "model/policy.h"

namespace chunkwise {
namespace {

Index at_least_one(Index length) {
  return std::max<Index>(1, length);
}

double elements_in(const Shape& shape) {
  double n = 1;
  for (const Index length : shape) n *= static_cast<double>(length);
  return n;
}

/// The divisor of `length` that is nearest to `wanted`; of two equally near ones the smaller. Searched from `wanted`
/// in both directions.
Index nearest_divisor(Index length, Index wanted) {
  for (Index away = 0;; ++away) {
    if (wanted - away >= 1 && length % (wanted - away) == 0) return wanted - away;
    if (wanted + away <= length && length % (wanted + away) == 0) return wanted + away;
  }
}

/// The largest divisor up to `wanted`.
Index divisor_below(Index length, Index wanted) {
  while (length % wanted != 0) --wanted;
  return wanted;
}

/// blosc2's partition: axes are filled from the last one.
Shape partition(Index most, const Shape& shape, const Shape& least) {
  Shape result = Shape::filled(shape.rank(), 1);
  for (int axis = shape.rank() - 1; axis >= 0 && most > 1; --axis) {
    const Index length = shape[axis];
    Index part = std::max(length, least[axis]);
    if (part <= most) {
      if (length % part != 0) part = nearest_divisor(length, part);
    } else {
      part = std::max(most, least[axis]);
      const Index divisor = length % part == 0 ? part : divisor_below(length, part);
      if (part / 2 < divisor && divisor < part * 2) part = divisor;
    }
    result[axis] = part;
    most /= part;
  }
  return result;
}

}  // namespace

// PyTables: a size that grows with the array's power of ten; the first axes give way.
Shape chunk_pytables(const PolicyInput& input, std::uint64_t) {
  Shape chunk;
  for (const Index length : input.shape) chunk.push_back(at_least_one(length));
  const auto element_bytes = static_cast<double>(input.element_bytes);
  const double size_MiB = std::clamp(std::floor(elements_in(chunk) * element_bytes / (1024.0 * 1024)), 1.0, 1e7);
  const double bytes = 64.0 * 1024 * std::pow(2.0, std::floor(std::log10(size_MiB)));
  const double most = std::max(1.0, std::floor(bytes / element_bytes));
  const Shape array = chunk;
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    chunk[axis] = 1;
    const double rest = elements_in(chunk);
    if (rest <= most) {
      // HDF5 takes no chunk longer than an axis that does not grow.
      const auto length = static_cast<Index>(std::floor(most / rest));
      chunk[axis] = input.unlimited[static_cast<std::size_t>(axis)] ? length : std::min(length, array[axis]);
      break;
    }
  }
  return chunk;
}

CacheSizes cache_sizes() {
  CacheSizes caches;
  // What sysconf() says of the third level may be the sum over all cores.
  for (int index = 0; index < 8; ++index) {
    const auto read = [index](const char* name) {
      std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/{}", index, name));
      std::string word;
      file >> word;
      return word;
    };
    const std::string level = read("level");
    std::string size = read("size");
    if (size.empty() || size.back() != 'K' || size.size() > 9 || read("type") == "Instruction") continue;
    size.pop_back();
    if (size.empty() || size.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::uint64_t bytes = std::stoull(size) * 1024;
    if (level == "1") caches.l1_bytes = bytes;
    if (level == "2") caches.l2_bytes = bytes;
    if (level == "3") caches.l3_bytes = bytes;
  }
  return caches;
}

Shape chunk_blosc2_for(const PolicyInput& input, const CacheSizes& caches) {
  constexpr std::uint64_t kBlock = 32 * 1024;
  constexpr std::uint64_t kLeastChunk = 4 * 1024 * 1024;
  constexpr std::uint64_t kMostChunk = 2147483615;  // the greatest buffer of blosc2
  const auto element_bytes = static_cast<std::uint64_t>(input.element_bytes);
  Shape shape;
  for (const Index length : input.shape) shape.push_back(at_least_one(length));
  const std::uint64_t share = caches.l2_bytes >= 2097152 ? caches.l1_bytes * 4 : caches.l2_bytes / 4;
  const std::uint64_t block_target = std::max({kBlock, share, element_bytes});
  const Shape ones = Shape::filled(shape.rank(), 1);
  const Shape block = partition(static_cast<Index>(block_target / element_bytes), shape, ones);
  const auto block_bytes = static_cast<std::uint64_t>(elements_in(block)) * element_bytes;
  std::uint64_t chunk_bytes = block_bytes * 32 < 67108864 ? block_bytes * 32 : block_bytes;
  if (caches.l3_bytes > 0) {
    if (caches.l3_bytes > caches.l2_bytes) chunk_bytes = caches.l3_bytes;
    chunk_bytes /= 4;
  }
  if (caches.l2_bytes > chunk_bytes) chunk_bytes = std::max(caches.l2_bytes / 4, chunk_bytes);
  chunk_bytes = std::max(std::clamp(chunk_bytes, kLeastChunk, kMostChunk), block_bytes);
  chunk_bytes = chunk_bytes / block_bytes * block_bytes;
  Shape chunk = partition(static_cast<Index>(chunk_bytes / element_bytes), shape, block);
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    if (chunk[axis] % block[axis] != 0) chunk[axis] = (chunk[axis] / block[axis] + 1) * block[axis];
    chunk[axis] = std::min(chunk[axis], shape[axis]);
  }
  return chunk;
}

Shape chunk_blosc2(const PolicyInput& input, std::uint64_t) {
  return chunk_blosc2_for(input, cache_sizes());
}

// TensorStore: the factor of a cube so that at most 1,048,576 elements are in it, by bisection.
Shape chunk_tensorstore(const PolicyInput& input, std::uint64_t) {
  constexpr double kMost = 1048576;
  const auto scaled = [&](double factor) {
    Shape chunk;
    for (const Index length : input.shape) {
      chunk.push_back(at_least_one(static_cast<Index>(std::min(factor, static_cast<double>(length)))));
    }
    return chunk;
  };
  double low = 1;
  double high = 1;
  for (const Index length : input.shape) high = std::max(high, static_cast<double>(length));
  if (elements_in(scaled(high)) <= kMost) return scaled(high);
  while (high - low > 1e-9 * high) {
    const double middle = low + (high - low) / 2;
    (elements_in(scaled(middle)) > kMost ? high : low) = middle;
  }
  return scaled(low);
}

// SciDB: a million cells.
Shape chunk_scidb(const PolicyInput& input, std::uint64_t) {
  const double edge = std::floor(std::pow(1e6, 1.0 / input.shape.rank()) + 1e-9);
  Shape chunk;
  for (const Index length : input.shape) {
    chunk.push_back(at_least_one(std::min(length, static_cast<Index>(edge))));
  }
  return chunk;
}

// rechunkit: lengths are replaced in turn by the greatest highly composite number below half of them.
Shape chunk_rechunkit(const PolicyInput& input, std::uint64_t bytes) {
  static constexpr auto kComposite = std::to_array<Index>(
      {1,     2,      4,      6,      12,     24,     36,     48,     60,     120,    180,     240,     360,    720,
       840,   1260,   1680,   2520,   5040,   7560,   10080,  15120,  20160,  25200,  27720,   45360,   50400,  55440,
       83160, 110880, 166320, 221760, 277200, 332640, 498960, 554400, 665280, 720720, 1081080, 1441440, 2162160});
  Shape chunk;
  for (const Index length : input.shape) chunk.push_back(at_least_one(length));
  for (int axis = 0;; axis = (axis + 1) % chunk.rank()) {
    const double n = elements_in(chunk);
    if (n <= 1 || n * static_cast<double>(input.element_bytes) <= 1.5 * static_cast<double>(bytes)) return chunk;
    const auto above = std::upper_bound(kComposite.begin(), kComposite.end(), chunk[axis] / 2 - 1);
    chunk[axis] = above == kComposite.begin() ? 1 : *(above - 1);
  }
}

// NeuroConv and HDMF: whole-number proportions of the axes, times one factor.
Shape chunk_neuroconv(const PolicyInput& input, std::uint64_t bytes) {
  const auto element_bytes = static_cast<double>(input.element_bytes);
  const auto target_bytes = static_cast<double>(bytes);
  Shape array;
  for (const Index length : input.shape) array.push_back(at_least_one(length));
  const Index shortest = *std::min_element(array.begin(), array.end());
  Shape share = array;
  for (Index& length : share) length /= shortest;
  while (elements_in(share) * element_bytes > target_bytes && elements_in(share) != 1) {
    Index least = 0;
    for (const Index length : share) {
      if (length != 1 && (least == 0 || length < least)) least = length;
    }
    for (Index& length : share) length = length == 1 ? 1 : length / least;
  }
  const double factor = std::floor(std::pow(target_bytes / (elements_in(share) * element_bytes), 1.0 / share.rank()));
  for (int axis = 0; axis < share.rank(); ++axis) {
    const double length = factor * static_cast<double>(share[axis]);
    share[axis] = at_least_one(static_cast<Index>(std::min(length, static_cast<double>(array[axis]))));
  }
  return share;
}

}  // namespace chunkwise
