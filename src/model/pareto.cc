#include "model/pareto.h"

#include <algorithm>

namespace chunkwise {
namespace {

constexpr double kSame = 1.01;

/// `a` is nowhere worse than `b`, and better somewhere; or as good everywhere and before it.
bool beats(const std::vector<double>& a, const std::vector<double>& b, bool before) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i] * kSame) return false;
    better = better || a[i] * kSame < b[i];
  }
  return better || before;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // Against points already in the front, and all behind: what another beats cannot be needed to beat this one, but
    // for differences of just about 1 %.
    bool beaten =
        std::any_of(front.begin(), front.end(), [&](std::size_t j) { return beats(points[j], points[i], true); });
    for (std::size_t j = i + 1; j < points.size() && !beaten; ++j) beaten = beats(points[j], points[i], false);
    if (!beaten) front.push_back(i);
  }
  return front;
}

}  // namespace chunkwise
