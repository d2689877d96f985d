// The chunk lengths netCDF-C gives a variable that must be chunked and for which nobody asked for any.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "model/policy.h"

namespace chunkwise {
namespace {

constexpr double kMaxChunkBytes = 4294967295.0;
constexpr Index kLongest1dUnlimited = 4096;

enum class Version { v4_3_2, v4_4_1, v4_9_3 };

Shape chunk_as(const PolicyInput& input, std::uint64_t bytes, Version version) {
  const int rank = input.shape.rank();
  const auto target_bytes = static_cast<double>(bytes);
  int n_unlimited = 0;
  // Single precision, as in every version up to 4.9.2: large products lose their last digits, which moves some lengths
  // by one.
  float n_fixed_elements = 1;
  double n_fixed_exact = 1;
  for (int axis = 0; axis < rank; ++axis) {
    if (input.unlimited[static_cast<std::size_t>(axis)]) {
      ++n_unlimited;
    } else {
      n_fixed_elements *= static_cast<float>(input.shape[axis]);
      n_fixed_exact *= static_cast<double>(input.shape[axis]);
    }
  }
  const double fixed_bytes = version == Version::v4_9_3
                                 ? n_fixed_exact * static_cast<double>(input.element_bytes)
                                 : static_cast<double>(n_fixed_elements * static_cast<float>(input.element_bytes));

  Shape chunk = Shape::filled(rank, 1);
  if (n_unlimited == rank && rank == 1) {
    // Divided by the element size twice: 1024 elements of 4 bytes, 512 of 8.
    const auto element_bytes = static_cast<Index>(input.element_bytes);
    const Index by_size = static_cast<Index>(bytes) / element_bytes;
    const Index most = version == Version::v4_3_2 ? std::numeric_limits<Index>::max() : kLongest1dUnlimited;
    chunk[0] = std::max<Index>(1, std::clamp<Index>(by_size, 1, most) / element_bytes);
    return chunk;  // may be longer than the array: it will grow
  }
  for (int axis = 0; axis < rank; ++axis) {
    if (n_unlimited == rank) {
      chunk[axis] = static_cast<Index>(std::pow(target_bytes / static_cast<double>(input.element_bytes), 1.0 / rank));
    } else if (!input.unlimited[static_cast<std::size_t>(axis)]) {
      const auto length = static_cast<double>(input.shape[axis]);
      const double share = std::pow(target_bytes / fixed_bytes, 1.0 / (rank - n_unlimited));
      const double wanted = share * length - 0.5;
      chunk[axis] = wanted >= length ? input.shape[axis] : static_cast<Index>(std::max(0.0, wanted));
    }
    chunk[axis] = std::max<Index>(chunk[axis], 1);
  }
  double chunk_bytes = static_cast<double>(input.element_bytes);
  for (const Index length : chunk) chunk_bytes *= static_cast<double>(length);
  if (chunk_bytes > kMaxChunkBytes) {
    for (Index& length : chunk) length = std::max<Index>(1, length / 2);
  }
  // Take back what would only overhang the end; a growing axis has no end yet.
  for (int axis = 0; axis < rank; ++axis) {
    if (input.unlimited[static_cast<std::size_t>(axis)]) continue;
    const Index n = ceil_div(input.shape[axis], chunk[axis]);
    if (n > 0) chunk[axis] -= (n * chunk[axis] - input.shape[axis]) / n;
  }
  return chunk;
}

}  // namespace

Shape chunk_nc4(const PolicyInput& input, std::uint64_t bytes) {
  return chunk_as(input, bytes, Version::v4_4_1);
}

Shape chunk_nc4_double(const PolicyInput& input, std::uint64_t bytes) {
  return chunk_as(input, bytes, Version::v4_9_3);
}

Shape chunk_nc4_432(const PolicyInput& input, std::uint64_t bytes) {
  return chunk_as(input, bytes, Version::v4_3_2);
}

Shape chunk_nc4_401(const PolicyInput& input, std::uint64_t) {
  constexpr Index kWhole = 65536;
  constexpr Index kLongest = 1048576;
  Shape chunk;
  for (int axis = 0; axis < input.shape.rank(); ++axis) {
    const Index length = std::max<Index>(1, input.shape[axis]);
    const bool grows = input.unlimited[static_cast<std::size_t>(axis)];
    chunk.push_back(grows ? 1 : length < kWhole ? length : length <= kLongest ? length / 2 + 1 : kLongest);
  }
  return chunk;
}

}  // namespace chunkwise
