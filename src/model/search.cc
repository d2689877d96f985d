// The lattice is the product of axis_lattice() over the axes. A coarse part of it is walked through by branch and
// bound: axis by axis, leaving out every branch whose chunks and bytes alone cost more than the best finds. Those then
// climb down on the full lattice, one axis or a pair of axes (one longer, one shorter, the chunk about as large) at a
// time. At last the whole lattice is walked through in the same way, leaving out what cannot be better by 1 %; where
// that ends before its allowance, the result is proven.
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

constexpr int kMaxClimbs = 200;
constexpr int kFewClimbs = 6;
constexpr double kTolerance = 1.01;
/// Branches times accesses that a proof may take: a few milliseconds.
constexpr double kProofWork = 50e3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Choice = std::array<int, kMaxRank>;  // index into each axis' lattice

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
    max_bytes_ = static_cast<double>(greatest_chunk_bytes(limits, array, device));
    min_bytes_ = std::min({static_cast<double>(least_chunk_bytes(limits, total_bytes_)), total_bytes_, max_bytes_});
    if (limits.max_objects && array.placement == Placement::one_object && !array.shard) {
      max_chunks_ = static_cast<double>(*limits.max_objects);
    }
    array_.chunk = Shape::filled(rank_, 1);
    for (const auto& pattern : patterns) pricers_.emplace_back(array_, pattern, device);
    current_.resize(patterns.size(), std::vector<AxisTouch>(static_cast<std::size_t>(rank_)));
    for (int axis = 0; axis < rank_; ++axis) {
      std::vector<Index> extents;
      for (const auto& pattern : patterns) extents.push_back(pattern.extents[axis]);
      axes_.push_back(tabulate(axis, axis_lattice(array.shape[axis], extents)));
    }
    tabulate_least();
    group_axes();
  }

  SearchResult run() {
    SearchResult result;
    coarse();
    // No lattice point in the limits: give up the limit on padding first, then the number of chunks, then the least
    // chunk size.
    if (starts_.empty()) {
      result.within_limits = false;
      max_padding_ = kInfinity;
      coarse();
      if (starts_.empty()) max_chunks_ = kInfinity;
      for (; starts_.empty(); min_bytes_ = min_bytes_ < 1 ? 0 : min_bytes_ / 2) {
        coarse();
        CHUNKWISE_CHECK(!starts_.empty() || min_bytes_ > 0);
      }
    }
    Start best = starts_.front();
    for (auto& start : starts_) {
      climb(start);
      if (start.objective < best.objective) best = start;
    }
    result.proven = limits_.thorough && prove(best);
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
    std::vector<double> n_chunks;    // along the axis
    std::vector<double> log_share;   // log2(length / extent)
  };
  struct Start {
    double objective = kInfinity;
    Choice choice{};
  };
  /// What one walk through the lattice looks at, and where it ends.
  struct Walk {
    std::vector<std::vector<int>> choices;  // indices into each axis' lattice, ascending
    std::size_t n_keep = 1;                 // of the best finds
    double tolerance = 1;                   // finds must be better by this factor
    std::uint64_t allowance = UINT64_MAX;   // branches
  };

  Axis tabulate(int axis, std::vector<Index> lengths) const {
    Axis table;
    table.lengths = std::move(lengths);
    const Index extent = array_.shape[axis];
    for (const Index length : table.lengths) {
      const auto n_chunks = static_cast<double>(ceil_div(extent, length));
      const double padded = n_chunks * static_cast<double>(length);
      table.n_chunks.push_back(n_chunks);
      table.padding.push_back(unlimited_[static_cast<std::size_t>(axis)] ? 1.0 : padded / static_cast<double>(extent));
      table.log_share.push_back(std::log2(static_cast<double>(length) / static_cast<double>(extent)));
      for (const auto& pattern : patterns_) {
        table.touches.push_back(touch_axis(extent, length, pattern.extents[axis], pattern.step(axis)));
      }
    }
    return table;
  }

  /// The fewest chunks, and the fewest elements in full chunks, that any lengths of the axes from one on touch.
  void tabulate_least() {
    const std::size_t n = patterns_.size();
    const auto rank = static_cast<std::size_t>(rank_);
    least_chunks_.assign((rank + 1) * n, 1.0);
    least_elements_ = least_chunks_;
    chunks_before_ = least_chunks_;
    elements_before_ = least_chunks_;
    for (std::size_t axis = rank; axis-- > 0;) {
      const Axis& table = axes_[axis];
      for (std::size_t p = 0; p < n; ++p) {
        double chunks = kInfinity;
        double elements = kInfinity;
        for (std::size_t i = 0; i < table.lengths.size(); ++i) {
          const double touched = table.touches[i * n + p].chunks;
          chunks = std::min(chunks, touched);
          elements = std::min(elements, touched * static_cast<double>(table.lengths[i]));
        }
        least_chunks_[axis * n + p] = chunks * least_chunks_[(axis + 1) * n + p];
        least_elements_[axis * n + p] = elements * least_elements_[(axis + 1) * n + p];
      }
    }
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

  /// False if the chunks and elements touched alone cost `limit` or more.
  bool may_be_below(const Choice& choice, double chunk_elements, double limit) {
    const std::size_t n = patterns_.size();
    for (std::size_t p = 0; p < n; ++p) {
      double chunks = 1;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        chunks *= axes_[axis].touches[static_cast<std::size_t>(choice[axis]) * n + p].chunks;
      }
      values_[p] = goal_.value(pricers_[p].least(chunks, chunks * chunk_elements));
    }
    return goal_.combine(values_, patterns_) < limit;
  }

  /// What is minimised; or infinity as soon as it cannot be below `limit`.
  double objective(const Choice& choice, double chunk_elements, double limit) {
    const double factor = 1 + limits_.evenness * imbalance(choice);
    if (!may_be_below(choice, chunk_elements, limit / factor)) return kInfinity;
    for (int axis = 0; axis < rank_; ++axis) place(axis, choice[static_cast<std::size_t>(axis)]);
    ++n_priced_;
    for (std::size_t p = 0; p < patterns_.size(); ++p) {
      values_[p] = goal_.value(pricers_[p].price(current_[p], chunk_elements));
    }
    const double value = goal_.combine(values_, patterns_) * factor;
    return value < limit ? value : kInfinity;
  }

  /// No chunk whose lengths before `axis` are as chosen costs less.
  double least_of_branch(int axis, double chunk_bytes) {
    const std::size_t n = patterns_.size();
    const std::size_t at = static_cast<std::size_t>(axis) * n;
    const double chosen_elements = chunk_bytes / static_cast<double>(array_.element_bytes);
    const double most_elements = std::max(chosen_elements, max_bytes_ / static_cast<double>(array_.element_bytes));
    const double fewest_elements = min_bytes_ / static_cast<double>(array_.element_bytes);
    for (std::size_t p = 0; p < n; ++p) {
      double chunks = chunks_before_[at + p] * least_chunks_[at + p];
      double elements = elements_before_[at + p] * least_elements_[at + p];
      chunks = std::max(chunks, elements / most_elements);
      elements = std::max(elements, chunks * fewest_elements);
      values_[p] = goal_.value(pricers_[p].least(chunks, elements));
    }
    return goal_.combine(values_, patterns_);
  }

  /// For every axis the lattice indices to walk through, together at most about so many combinations.
  std::vector<std::vector<int>> choices_of(double max_combinations) const {
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
      if (combinations <= max_combinations || ratio > 1e18) return choices;
      ratio = ratio < 1.02 ? 1.02 : 1 + (ratio - 1) * 1.3;
    }
  }

  /// Work is about combinations times accesses; many axes climb longer.
  void coarse() {
    const double n_patterns = static_cast<double>(patterns_.size());
    Walk walk;
    walk.choices = choices_of(limits_.thorough ? std::clamp(60e3 / n_patterns, 4e3, 20e3) : 3e3);
    walk.n_keep = !limits_.thorough ? 1 : n_patterns * rank_ * rank_ > 200 ? 2 : 6;
    run_walk(walk);
  }

  /// True if the whole lattice was looked at, or cannot hold anything better than `best` by more than the tolerance.
  bool prove(Start& best) {
    Walk walk;
    walk.choices = choices_of(kInfinity);
    walk.tolerance = kTolerance;
    walk.allowance = static_cast<std::uint64_t>(kProofWork / static_cast<double>(patterns_.size()));
    starts_ = {best};
    const bool complete = run_walk(walk);
    best = starts_.front();
    return complete;
  }

  bool run_walk(const Walk& walk) {
    Choice choice{};
    n_branches_ = 0;
    return visit(walk, 0, static_cast<double>(array_.element_bytes), 1, 1, choice);
  }

  double limit_of(const Walk& walk) const {
    return starts_.size() >= walk.n_keep ? starts_.back().objective / walk.tolerance : kInfinity;
  }

  void keep(const Walk& walk, double value, const Choice& choice) {
    if (starts_.size() >= walk.n_keep) starts_.pop_back();
    const auto at = std::upper_bound(starts_.begin(), starts_.end(), value,
                                     [](double v, const Start& start) { return v < start.objective; });
    starts_.insert(at, Start{value, choice});
  }

  /// All choices of the axes from `axis` on. False if the allowance ended first.
  bool visit(const Walk& walk, int axis, double bytes, double padding, double n_chunks, Choice& choice) {
    if (axis == rank_) {
      const double value = objective(choice, bytes / static_cast<double>(array_.element_bytes), limit_of(walk));
      if (value < limit_of(walk)) keep(walk, value, choice);
      return true;
    }
    double most_behind = 1;
    for (int behind = axis + 1; behind < rank_; ++behind) most_behind *= static_cast<double>(array_.shape[behind]);
    const auto at = static_cast<std::size_t>(axis);
    const Axis& table = axes_[at];
    const std::size_t n = patterns_.size();
    for (const int index : walk.choices[at]) {
      const auto i = static_cast<std::size_t>(index);
      const double next_bytes = bytes * static_cast<double>(table.lengths[i]);
      if (next_bytes > max_bytes_) break;
      const double next_padding = padding * table.padding[i];
      const double next_chunks = n_chunks * table.n_chunks[i];
      if (next_bytes * most_behind < min_bytes_ || next_padding > max_padding_ || next_chunks > max_chunks_) continue;
      if (++n_branches_ > walk.allowance) return false;
      for (std::size_t p = 0; p < n; ++p) {
        const double touched = table.touches[i * n + p].chunks;
        chunks_before_[(at + 1) * n + p] = chunks_before_[at * n + p] * touched;
        elements_before_[(at + 1) * n + p] =
            elements_before_[at * n + p] * touched * static_cast<double>(table.lengths[i]);
      }
      choice[at] = index;
      if (axis + 1 < rank_ && least_of_branch(axis + 1, next_bytes) >= limit_of(walk)) continue;
      if (!visit(walk, axis + 1, next_bytes, next_padding, next_chunks, choice)) return false;
    }
    return true;
  }

  /// Tries `choice` against the limits; infinity if outside.
  double try_choice(const Choice& choice, double limit) {
    double bytes = static_cast<double>(array_.element_bytes);
    double padding = 1;
    double n_chunks = 1;
    for (int axis = 0; axis < rank_; ++axis) {
      const auto at = static_cast<std::size_t>(axis);
      bytes *= static_cast<double>(length(axis, choice[at]));
      padding *= axes_[at].padding[static_cast<std::size_t>(choice[at])];
      n_chunks *= axes_[at].n_chunks[static_cast<std::size_t>(choice[at])];
    }
    if (bytes < min_bytes_ || bytes > max_bytes_ || padding > max_padding_ || n_chunks > max_chunks_) return kInfinity;
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
    for (int round = 0; round < (limits_.thorough ? kMaxClimbs : kFewClimbs); ++round) {
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
  double max_chunks_ = kInfinity;
  double max_padding_ = limits_.max_padding;
  std::vector<Pricer> pricers_;
  std::vector<Axis> axes_;
  std::vector<std::vector<int>> groups_;         // of axes treated alike, two or more each
  std::vector<std::vector<AxisTouch>> current_;  // [pattern][axis] of the chunk being tried
  // Products over axes, [axis][pattern]: the least over the lattice from that axis on; of what is chosen before it.
  std::vector<double> least_chunks_, least_elements_;
  std::vector<double> chunks_before_, elements_before_;
  std::vector<Start> starts_;  // best first
  std::uint64_t n_branches_ = 0;
  std::uint64_t n_priced_ = 0;
};

}  // namespace

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
