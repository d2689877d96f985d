// Rew's balanced chunks: a 1-D read along axis 0 and a read of everything else at one index of axis 0 touch about the
// same number of chunks. With K ideal chunks, a of them lie along each of the axes 1.. and K / a^(n-1) along axis 0.
//
// The published script (for three axes) puts a^(n-1) chunks on axis 0 with a = K^(1/4); its circulating generalisation
// keeps a = K^(1/(n+1)), which is balanced for n = 3 only. Balance needs a^(n-1) * a^(n-1) = K: a = K^(1/(2(n-1))).
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/policy.h"

namespace chunkwise {
namespace {

/// Rounds down as the published script does (Python's // on floats), so that exact quotients come out alike.
double floor_divide(double x, double y) {
  const double quotient = std::floor((x - std::fmod(x, y)) / y);
  const double plain = (x - std::fmod(x, y)) / y;
  return plain - quotient > 0.5 ? quotient + 1 : quotient;
}

Shape balanced(const PolicyInput& input, std::uint64_t bytes, double exponent, bool up = false) {
  const int rank = input.shape.rank();
  const auto element_bytes = static_cast<double>(input.element_bytes);
  const auto target_bytes = static_cast<double>(bytes);
  std::vector<double> extent;
  double elements = 1;
  for (const Index length : input.shape) {
    extent.push_back(static_cast<double>(std::max<Index>(length, 1)));
    elements *= extent.back();
  }
  const auto at = [&](int axis) { return extent[static_cast<std::size_t>(axis)]; };
  const auto clamped = [&](const std::vector<double>& lengths) {
    Shape result;
    for (int axis = 0; axis < rank; ++axis) {
      result.push_back(static_cast<Index>(std::clamp(lengths[static_cast<std::size_t>(axis)], 1.0, at(axis))));
    }
    return result;
  };
  const double n_ideal = elements / (target_bytes / element_bytes);
  if (n_ideal <= 1) return clamped(extent);
  if (rank == 1) return clamped({std::max(1.0, std::floor(target_bytes / element_bytes))});

  double per_axis = std::pow(n_ideal, exponent);
  std::vector<double> lengths;
  const double first = at(0) / std::pow(per_axis, rank - 1);
  if (first < 1) {
    lengths.push_back(1);
    per_axis /= std::pow(first, 1.0 / (rank - 1));
  } else {
    lengths.push_back(up ? std::ceil(first) : floor_divide(at(0), std::pow(per_axis, rank - 1)));
  }
  double spared = 1;  // what axes shorter than their share of chunks leave to the others
  for (int axis = 1; axis < rank; ++axis) {
    if (at(axis) / per_axis < 1) spared *= per_axis / at(axis);
  }
  for (int axis = 1; axis < rank; ++axis) {
    const double ideal = spared * at(axis) / per_axis;
    lengths.push_back(at(axis) / per_axis < 1 ? 1.0
                      : up                    ? std::ceil(ideal)
                                              : floor_divide(spared * at(axis), per_axis));
  }
  if (up) return clamped(lengths);

  // The largest of all "+1 on some axes" that still fits; the floor itself if none does.
  std::vector<double> best = lengths;
  double best_bytes = 0;
  if (rank > 20) return clamped(best);  // 2^rank trials; no published use reaches this
  for (std::uint32_t on = 0; on < (std::uint32_t{1} << rank); ++on) {
    std::vector<double> trial = lengths;
    double trial_bytes = element_bytes;
    for (int axis = 0; axis < rank; ++axis) {
      auto& length = trial[static_cast<std::size_t>(axis)];
      length += (on >> (rank - 1 - axis)) & 1U;
      trial_bytes *= length;
    }
    if (trial_bytes > best_bytes && trial_bytes <= target_bytes) {
      best_bytes = trial_bytes;
      best = trial;
    }
  }
  return clamped(best);
}

}  // namespace

Shape chunk_rew(const PolicyInput& input, std::uint64_t bytes) {
  return balanced(input, bytes, 1.0 / (input.shape.rank() + 1));
}

Shape chunk_rew_ceil(const PolicyInput& input, std::uint64_t bytes) {
  return balanced(input, bytes, 1.0 / (input.shape.rank() + 1), true);
}

Shape chunk_rew_nd(const PolicyInput& input, std::uint64_t bytes) {
  return balanced(input, bytes, input.shape.rank() < 2 ? 1.0 : 1.0 / (2.0 * (input.shape.rank() - 1)));
}

}  // namespace chunkwise
