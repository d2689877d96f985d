// The lattice is the product of axis_lattice() over the axes. Small ones are walked through; of large ones a coarse
// part is, and the best finds then climb down on the full lattice, one axis or a pair of axes (one longer, one shorter,
// the chunk about as large) at a time.
#include "model/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

// Neighbours closer than this cannot be told apart by any prediction.
constexpr double kFinestRatio = 1.01;
constexpr double kMaxCoarse = 40e3;
constexpr std::size_t kStarts = 6;
constexpr int kMaxClimbs = 200;

using Choice = std::array<int, kMaxRank>;  // index into each axis' lattice

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

class Search {
 public:
  Search(const StoredArray& array, const std::vector<bool>& unlimited, std::span<const AccessPattern> patterns,
         const Device& device, const SearchLimits& limits, const Goal& goal)
      : array_(array),
        unlimited_(unlimited),
        patterns_(patterns),
        limits_(limits),
        goal_(goal),
        rank_(array.shape.rank()),
        values_(patterns.size()) {
    total_bytes_ = static_cast<double>(array.element_bytes);
    for (const Index length : array.shape) total_bytes_ *= static_cast<double>(length);
    min_bytes_ = std::min(static_cast<double>(least_chunk_bytes(limits, total_bytes_)), total_bytes_);
    max_bytes_ = static_cast<double>(limits.max_chunk_bytes);
    array_.chunk = Shape::filled(rank_, 1);
    for (const auto& pattern : patterns) pricers_.emplace_back(array_, pattern, device);
    current_.resize(patterns.size(), std::vector<AxisTouch>(static_cast<std::size_t>(rank_)));
    for (int axis = 0; axis < rank_; ++axis) {
      std::vector<Index> extents;
      for (const auto& pattern : patterns) extents.push_back(pattern.extents[axis]);
      axes_.push_back(tabulate(axis, axis_lattice(array.shape[axis], extents)));
    }
    group_axes();
  }

  SearchResult run() {
    SearchResult result;
    coarse(coarse_choices());
    // No lattice point in the limits: give up the limit on padding first, then the least chunk size.
    if (starts_.empty()) {
      result.within_limits = false;
      max_padding_ = std::numeric_limits<double>::infinity();
      coarse(coarse_choices());
      for (; starts_.empty() && min_bytes_ > 0; min_bytes_ = min_bytes_ < 1 ? 0 : min_bytes_ / 2)
        coarse(coarse_choices());
      CHUNKWISE_CHECK(!starts_.empty());
    }
    auto best = starts_.front();
    for (auto& start : starts_) {
      climb(start);
      if (start.objective < best.objective) best = start;
    }
    for (int axis = 0; axis < rank_; ++axis)
      result.chunk.push_back(length(axis, best.choice[static_cast<std::size_t>(axis)]));
    result.objective = best.objective / (1 + limits_.evenness * imbalance(best.choice));
    result.n_priced = n_priced_;
    return result;
  }

 private:
  struct Axis {
    std::vector<Index> lengths;
    std::vector<AxisTouch> touches;  // [length][pattern]
    std::vector<double> padding;     // full chunks over extent; 1 for a growing axis
    std::vector<double> log_share;   // log2(length / extent)
  };
  struct Start {
    double objective = std::numeric_limits<double>::infinity();
    Choice choice{};
  };

  Axis tabulate(int axis, std::vector<Index> lengths) const {
    Axis table;
    table.lengths = std::move(lengths);
    const Index extent = array_.shape[axis];
    for (const Index length : table.lengths) {
      const double padded = static_cast<double>(ceil_div(extent, length)) * static_cast<double>(length);
      table.padding.push_back(unlimited_[static_cast<std::size_t>(axis)] ? 1.0 : padded / static_cast<double>(extent));
      table.log_share.push_back(std::log2(static_cast<double>(length) / static_cast<double>(extent)));
      for (const auto& pattern : patterns_) {
        table.touches.push_back(touch_axis(extent, length, pattern.extents[axis], pattern.step(axis)));
      }
    }
    return table;
  }

  Index length(int axis, int index) const {
    return axes_[static_cast<std::size_t>(axis)].lengths[static_cast<std::size_t>(index)];
  }

  void place(int axis, int index) {
    const auto& table = axes_[static_cast<std::size_t>(axis)];
    const auto first = static_cast<std::size_t>(index) * patterns_.size();
    for (std::size_t p = 0; p < patterns_.size(); ++p)
      current_[p][static_cast<std::size_t>(axis)] = table.touches[first + p];
  }

  /// Axes of the same extent, in proportion, in every access.
  void group_axes() {
    std::vector<bool> done(static_cast<std::size_t>(rank_));
    const auto alike = [&](int a, int b) {
      return std::all_of(patterns_.begin(), patterns_.end(), [&](const AccessPattern& pattern) {
        const auto share = [&](int axis) {
          return static_cast<double>(pattern.extents[axis]) / static_cast<double>(array_.shape[axis]);
        };
        const bool both_single = pattern.extents[a] == 1 && pattern.extents[b] == 1;
        return both_single || (share(a) == share(b) && pattern.step(a) == pattern.step(b));
      });
    };
    for (int axis = 0; axis < rank_; ++axis) {
      if (done[static_cast<std::size_t>(axis)]) continue;
      std::vector<int> group;
      for (int other = axis; other < rank_; ++other) {
        if (done[static_cast<std::size_t>(other)] || !alike(axis, other)) continue;
        done[static_cast<std::size_t>(other)] = true;
        group.push_back(other);
      }
      if (group.size() > 1) groups_.push_back(std::move(group));
    }
  }

  double imbalance(const Choice& choice) const {
    double sum = 0;
    for (const auto& group : groups_) {
      const auto share = [&](int axis) {
        const auto at = static_cast<std::size_t>(axis);
        return axes_[at].log_share[static_cast<std::size_t>(choice[at])];
      };
      double mean = 0;
      for (const int axis : group) mean += share(axis) / static_cast<double>(group.size());
      for (const int axis : group) sum += (share(axis) - mean) * (share(axis) - mean);
    }
    return sum;
  }

  /// What is minimised, for the chunk whose touches are in place; or infinity as soon as it cannot be below `limit`.
  double objective(const Choice& choice, double chunk_elements, double limit) {
    const double factor = 1 + limits_.evenness * imbalance(choice);
    if (goal_.objective != Objective::weighted) {
      ++n_priced_;
      for (std::size_t p = 0; p < patterns_.size(); ++p) {
        values_[p] = goal_.value(pricers_[p].price(current_[p], chunk_elements));
      }
      const double value = goal_.combine(values_, patterns_) * factor;
      return value < limit ? value : std::numeric_limits<double>::infinity();
    }
    double bound_s = 0;
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
      double chunks = 1;
      for (const auto& axis : current_[p]) chunks *= axis.chunks;
      bound_s += patterns_[p].weight * pricers_[p].lower_bound_s(chunks, chunk_elements);
    }
    if (bound_s * factor >= limit) return std::numeric_limits<double>::infinity();
    ++n_priced_;
    double sum_s = 0;
    for (std::size_t p = 0; p < patterns_.size() && sum_s * factor < limit; ++p) {
      sum_s += patterns_[p].weight * pricers_[p].seconds(current_[p], chunk_elements);
    }
    return sum_s * factor;
  }

  /// For every axis the lattice indices to walk through, together at most about kMaxCoarse combinations.
  std::vector<std::vector<int>> coarse_choices() const {
    double ratio = 1;
    std::vector<std::vector<int>> choices(axes_.size());
    while (true) {
      double combinations = 1;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        choices[axis].clear();
        double last = 0;
        const auto& lengths = axes_[axis].lengths;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
          const auto value = static_cast<double>(lengths[i]);
          if (value < last * ratio && i + 1 < lengths.size()) continue;
          choices[axis].push_back(static_cast<int>(i));
          last = value;
        }
        combinations *= static_cast<double>(choices[axis].size());
      }
      // Beyond a certain coarseness only {1, whole} is left on every axis.
      if (combinations <= kMaxCoarse || ratio > 1e18) return choices;
      ratio = ratio < 1.02 ? 1.02 : 1 + (ratio - 1) * 1.3;
    }
  }

  void coarse(const std::vector<std::vector<int>>& choices) {
    Choice choice{};
    walk(choices, 0, static_cast<double>(array_.element_bytes), 1, choice);
  }

  void walk(const std::vector<std::vector<int>>& choices, int axis, double bytes, double padding, Choice& choice) {
    if (axis == rank_) {
      if (bytes < min_bytes_) return;
      const bool full = starts_.size() == kStarts;
      const double limit = full ? starts_.back().objective : std::numeric_limits<double>::infinity();
      const double value = objective(choice, bytes / static_cast<double>(array_.element_bytes), limit);
      if (value < limit) {
        if (full) starts_.pop_back();
        const auto at = std::upper_bound(starts_.begin(), starts_.end(), value,
                                         [](double v, const Start& start) { return v < start.objective; });
        starts_.insert(at, Start{value, choice});
      }
      return;
    }
    double most_behind = 1;
    for (int behind = axis + 1; behind < rank_; ++behind) most_behind *= static_cast<double>(array_.shape[behind]);
    const auto& table = axes_[static_cast<std::size_t>(axis)];
    for (const int index : choices[static_cast<std::size_t>(axis)]) {
      const double next_bytes = bytes * static_cast<double>(length(axis, index));
      if (next_bytes > max_bytes_) break;
      const double next_padding = padding * table.padding[static_cast<std::size_t>(index)];
      if (next_bytes * most_behind < min_bytes_ || next_padding > max_padding_) continue;
      choice[static_cast<std::size_t>(axis)] = index;
      place(axis, index);
      walk(choices, axis + 1, next_bytes, next_padding, choice);
    }
  }

  /// Tries `choice` against the limits; infinity if outside.
  double try_choice(const Choice& choice, double limit) {
    double bytes = static_cast<double>(array_.element_bytes);
    double padding = 1;
    for (int axis = 0; axis < rank_; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      bytes *= static_cast<double>(length(axis, choice[at]));
      padding *= axes_[at].padding[static_cast<std::size_t>(choice[at])];
    }
    if (bytes < min_bytes_ || bytes > max_bytes_ || padding > max_padding_)
      return std::numeric_limits<double>::infinity();
    for (int axis = 0; axis < rank_; ++axis) place(axis, choice[static_cast<std::size_t>(axis)]);
    return objective(choice, bytes / static_cast<double>(array_.element_bytes), limit);
  }

  bool shift(Choice& choice, int axis, int by) const {
    const int index = choice[static_cast<std::size_t>(axis)] + by;
    if (index < 0 || index >= static_cast<int>(axes_[static_cast<std::size_t>(axis)].lengths.size())) return false;
    choice[static_cast<std::size_t>(axis)] = index;
    return true;
  }

  /// Index of the lattice length nearest to what keeps the product with another axis' change.
  int index_near(int axis, double wanted) const {
    const auto& lengths = axes_[static_cast<std::size_t>(axis)].lengths;
    const auto at = std::lower_bound(lengths.begin(), lengths.end(), wanted,
                                     [](Index l, double w) { return static_cast<double>(l) < w; });
    if (at == lengths.end()) return static_cast<int>(lengths.size()) - 1;
    return static_cast<int>(at - lengths.begin());
  }

  void climb(Start& start) {
    constexpr std::array<int, 8> kSteps = {-8, -4, -2, -1, 1, 2, 4, 8};
    for (int round = 0; round < kMaxClimbs; ++round) {
      Start best = start;
      const auto consider = [&](const Choice& choice) {
        const double value = try_choice(choice, best.objective);
        if (value < best.objective) best = {value, choice};
      };
      for (int axis = 0; axis < rank_; ++axis) {
        for (const int step : kSteps) {
          Choice one = start.choice;
          if (!shift(one, axis, step)) continue;
          consider(one);
          const double ratio = static_cast<double>(length(axis, one[static_cast<std::size_t>(axis)])) /
                               static_cast<double>(length(axis, start.choice[static_cast<std::size_t>(axis)]));
          for (int other = 0; other < rank_; ++other) {
            if (other == axis) continue;
            const double now = static_cast<double>(length(other, start.choice[static_cast<std::size_t>(other)]));
            Choice two = one;
            two[static_cast<std::size_t>(other)] = index_near(other, now / ratio);
            consider(two);
            if (shift(two, other, -1)) consider(two);
          }
        }
      }
      if (!(best.objective < start.objective)) return;
      start = best;
    }
  }

  StoredArray array_;
  const std::vector<bool>& unlimited_;
  std::span<const AccessPattern> patterns_;
  SearchLimits limits_;
  Goal goal_;
  int rank_;
  std::vector<double> values_;  // of the chunk being tried, one per access
  double total_bytes_ = 0;
  double min_bytes_ = 0;
  double max_bytes_ = 0;
  double max_padding_ = limits_.max_padding;
  std::vector<Pricer> pricers_;
  std::vector<Axis> axes_;
  std::vector<std::vector<int>> groups_;         // of axes treated alike, two or more each
  std::vector<std::vector<AxisTouch>> current_;  // [pattern][axis] of the chunk being tried
  std::vector<Start> starts_;                    // best first
  std::uint64_t n_priced_ = 0;
};

}  // namespace

std::span<const ObjectiveRow> objective_rows() {
  static constexpr std::array<ObjectiveRow, 4> kRows = {{{"weighted", Objective::weighted},
                                                         {"worst", Objective::worst},
                                                         {"p95", Objective::p95},
                                                         {"cost", Objective::cost}}};
  return kRows;
}

double Goal::value(const Cost& cost) const {
  if (objective != Objective::cost) return cost.seconds;
  return (cost.requests.requests + cost.requests.index_reads) * price_per_request +
         cost.requests.bytes * price_per_byte;
}

double Goal::combine(std::span<const double> values, std::span<const AccessPattern> patterns) const {
  if (objective == Objective::worst) return *std::max_element(values.begin(), values.end());
  if (objective != Objective::p95) {
    double sum = 0;
    for (std::size_t p = 0; p < values.size(); ++p) sum += patterns[p].weight * values[p];
    return sum;
  }
  double all = 0;
  for (const auto& pattern : patterns) all += pattern.weight;
  // The least value that accesses of 95 % of the weight do not pass.
  double best = std::numeric_limits<double>::infinity();
  for (const double value : values) {
    double below = 0;
    for (std::size_t p = 0; p < values.size(); ++p) below += values[p] <= value ? patterns[p].weight : 0.0;
    if (below >= 0.95 * all * (1 - 1e-12)) best = std::min(best, value);
  }
  return best;
}

std::uint64_t least_chunk_bytes(const SearchLimits& limits, double array_bytes) {
  constexpr double kManyChunks = 100e3;
  constexpr double kPage = 4 * 1024;
  constexpr double kEnough = 64 * 1024;
  const auto automatic = static_cast<std::uint64_t>(std::clamp(array_bytes / kManyChunks, kPage, kEnough));
  return std::min(limits.min_chunk_bytes.value_or(automatic), limits.max_chunk_bytes);
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

SearchResult search_chunks(const StoredArray& array, const std::vector<bool>& unlimited,
                           std::span<const AccessPattern> patterns, const Device& device, const SearchLimits& limits,
                           const Goal& goal) {
  if (limits.min_chunk_bytes.value_or(0) > limits.max_chunk_bytes) {
    throw Error(Code::usage, fmt::format("the least chunk size {} is above the greatest {}",
                                         format_bytes(*limits.min_chunk_bytes), format_bytes(limits.max_chunk_bytes)));
  }
  if (array.element_bytes > limits.max_chunk_bytes) {
    throw Error(Code::usage, fmt::format("one element has {} bytes, more than the greatest chunk size {}",
                                         array.element_bytes, format_bytes(limits.max_chunk_bytes)));
  }
  return Search(array, unlimited, patterns, device, limits, goal).run();
}

}  // namespace chunkwise
