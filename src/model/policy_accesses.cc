// Rules that look at the accesses: from the literature, and TileDB's advice.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "model/policy.h"

namespace chunkwise {
namespace {

/// The accesses, or where there are none the whole array as the only one.
std::vector<AccessPattern> accesses_of(const PolicyInput& input) {
  if (!input.patterns.empty()) return input.patterns;
  AccessPattern all{"all", input.shape, 1};
  for (Index& extent : all.extents) extent = std::max<Index>(1, extent);
  return {all};
}

/// Sarawagi and Stonebraker's search: all maximal shapes below a volume, the last axis filled first.
class MaximalShapes {
 public:
  MaximalShapes(std::vector<AccessPattern> accesses, Index most) : accesses_(std::move(accesses)) {
    const int rank = accesses_.front().extents.rank();
    for (int axis = 0; axis < rank; ++axis) {
      Index longest = 1;
      for (const auto& access : accesses_) longest = std::max(longest, access.extents[axis]);
      longest_.push_back(longest);
    }
    trial_ = best_ = Shape::filled(rank, 1);
    // Beyond this many elements only lengths at which some access touches fewer chunks are tried on the first axes; the
    // number of pages is the same, the shape may be another of those with as few.
    every_length_ = most <= 65536;
    walk(0, most, std::vector<double>(accesses_.size(), 1));
  }

  const Shape& best() const { return best_; }

 private:
  std::vector<Index> lengths(int axis, Index most) const {
    std::vector<Index> result;
    if (every_length_) {
      for (Index length = 1; length <= most; ++length) result.push_back(length);
      return result;
    }
    for (const auto& access : accesses_) {
      for (Index k = 1;;) {
        const Index length = ceil_div(access.extents[axis], k);
        if (length <= most) result.push_back(length);
        if (length == 1) break;
        k = (access.extents[axis] - 1) / (length - 1) + 1;
      }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
  }

  void walk(int axis, Index most, const std::vector<double>& pages) {
    const bool last = axis + 1 == trial_.rank();
    const Index longest = std::min(longest_[axis], most);
    for (const Index length : last ? std::vector<Index>{longest} : lengths(axis, longest)) {
      trial_[axis] = length;
      std::vector<double> next = pages;
      for (std::size_t i = 0; i < next.size(); ++i) {
        next[i] *= static_cast<double>(ceil_div(accesses_[i].extents[axis], length));
      }
      if (!last) {
        walk(axis + 1, most / length, next);
        continue;
      }
      double cost = 0;
      for (std::size_t i = 0; i < next.size(); ++i) cost += accesses_[i].weight * next[i];
      if (cost <= best_cost_) {  // of equal ones the later
        best_cost_ = cost;
        best_ = trial_;
      }
    }
  }

  std::vector<AccessPattern> accesses_;
  Shape longest_;
  Shape trial_;
  Shape best_;
  double best_cost_ = std::numeric_limits<double>::infinity();
  bool every_length_ = true;
};

/// Expected chunks of all accesses at random places: sum of weight * prod(1 + (A - 1) / c).
double expected_chunks(const std::vector<AccessPattern>& accesses, const std::vector<double>& chunk) {
  double sum = 0;
  for (const auto& access : accesses) {
    double n = access.weight;
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      n *= 1 + static_cast<double>(access.extents[static_cast<int>(i)] - 1) / chunk[i];
    }
    sum += n;
  }
  return sum;
}

}  // namespace

Shape chunk_ss94(const PolicyInput& input, std::uint64_t bytes) {
  const auto most = static_cast<Index>(bytes / input.element_bytes);
  return MaximalShapes(accesses_of(input), std::max<Index>(1, most)).best();
}

// Otoo, Rotem and Seshadri: the continuous optimum on the surface of one volume. The sum is convex in the logarithms of
// the lengths, so trading between pairs of axes finds it; then whole lengths, the most useful rounded up.
Shape chunk_otoo(const PolicyInput& input, std::uint64_t bytes) {
  const auto accesses = accesses_of(input);
  const auto rank = static_cast<std::size_t>(input.shape.rank());
  std::vector<double> most;
  double all = 1;
  for (const Index length : input.shape) {
    most.push_back(static_cast<double>(std::max<Index>(1, length)));
    all *= most.back();
  }
  const double volume =
      std::max(1.0, std::floor(static_cast<double>(bytes) / static_cast<double>(input.element_bytes)));
  Shape result;
  if (all <= volume) {
    for (const double length : most) result.push_back(static_cast<Index>(length));
    return result;
  }
  std::vector<double> chunk;
  const double share = std::log(volume) / std::log(all);
  for (const double length : most) chunk.push_back(std::pow(length, share));
  for (int round = 0; round < 200; ++round) {
    const double before = expected_chunks(accesses, chunk);
    for (std::size_t i = 0; i < rank; ++i) {
      for (std::size_t j = i + 1; j < rank; ++j) {
        // chunk[i] * f, chunk[j] / f: golden section on log f.
        double low = std::max(-std::log(chunk[i]), std::log(chunk[j] / most[j]));
        double high = std::min(std::log(most[i] / chunk[i]), std::log(chunk[j]));
        const auto traded = [&](double log_f) {
          std::vector<double> trial = chunk;
          trial[i] *= std::exp(log_f);
          trial[j] /= std::exp(log_f);
          return trial;
        };
        constexpr double kGolden = 0.6180339887498949;
        for (int step = 0; step < 60 && high > low; ++step) {
          const double a = high - kGolden * (high - low);
          const double b = low + kGolden * (high - low);
          if (expected_chunks(accesses, traded(a)) < expected_chunks(accesses, traded(b))) {
            high = b;
          } else {
            low = a;
          }
        }
        auto best = traded((low + high) / 2);
        if (expected_chunks(accesses, best) < expected_chunks(accesses, chunk)) chunk = std::move(best);
      }
    }
    if (before - expected_chunks(accesses, chunk) <= 1e-12 * before) break;
  }
  double n = 1;
  for (double& length : chunk) {
    length = std::max(1.0, std::floor(length + 1e-9));
    n *= length;
  }
  while (true) {
    std::size_t best_axis = rank;
    double best = expected_chunks(accesses, chunk);
    for (std::size_t i = 0; i < rank; ++i) {
      if (chunk[i] + 1 > most[i] || n / chunk[i] * (chunk[i] + 1) > volume) continue;
      auto trial = chunk;
      trial[i] += 1;
      const double value = expected_chunks(accesses, trial);
      if (value >= best) continue;
      best = value;
      best_axis = i;
    }
    if (best_axis == rank) break;
    n = n / chunk[best_axis] * (chunk[best_axis] + 1);
    chunk[best_axis] += 1;
  }
  for (const double length : chunk) result.push_back(static_cast<Index>(length));
  return result;
}

// TileDB: the shape of the common query; too small a tile grows along its last axes first.
Shape chunk_tiledb(const PolicyInput& input, std::uint64_t bytes) {
  const auto accesses = accesses_of(input);
  const auto heaviest = std::max_element(accesses.begin(), accesses.end(),
                                         [](const auto& a, const auto& b) { return a.weight < b.weight; });
  Shape chunk = heaviest->extents;
  double chunk_bytes = static_cast<double>(input.element_bytes);
  for (const Index length : chunk) chunk_bytes *= static_cast<double>(length);
  for (int axis = chunk.rank() - 1; axis >= 0 && chunk_bytes < static_cast<double>(bytes); --axis) {
    const double others = chunk_bytes / static_cast<double>(chunk[axis]);
    const double wanted = std::ceil(static_cast<double>(bytes) / others);
    chunk[axis] = static_cast<Index>(std::min(wanted, static_cast<double>(std::max<Index>(1, input.shape[axis]))));
    chunk_bytes = others * static_cast<double>(chunk[axis]);
  }
  return chunk;
}

}  // namespace chunkwise
