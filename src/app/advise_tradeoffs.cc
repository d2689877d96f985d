#include "app/advise_tradeoffs.h"

#include <algorithm>

#include "app/advise_rewrite.h"
#include "model/pareto.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

Layout search_layout(const Variable& variable, const Stored& then, const std::vector<AccessPattern>& for_patterns,
                     const SearchLimits& limits, const Question& question, SearchCache& cache) {
  const auto found = cache.find(then, variable.axes, for_patterns, question, limits);
  return price_layout(Layout::Kind::candidate, "front", found.chunks.chunk, found.shard, then, variable.patterns,
                      question);
}

/// Which of the layouts serves each pattern best.
std::vector<std::size_t> serve(const std::vector<Layout>& layouts, const Question& question) {
  std::vector<std::size_t> copy_of;
  for (std::size_t p = 0; p < layouts[0].costs.size(); ++p) {
    copy_of.push_back(question.goal.value(layouts[1].costs[p]) < question.goal.value(layouts[0].costs[p]) ? 1 : 0);
  }
  return copy_of;
}

double objective_of(const std::vector<Layout>& layouts, const std::vector<std::size_t>& copy_of,
                    const std::vector<AccessPattern>& patterns, const Question& question) {
  std::vector<double> values;
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    values.push_back(question.goal.value(layouts[copy_of[p]].costs[p]));
  }
  return question.goal.combine(values, patterns);
}

}  // namespace

void find_front(Variable& variable, const Stored& then, const Question& question, SearchCache& cache) {
  std::vector<Layout> layouts;
  for (const auto& layout : variable.layouts) {
    if (layout.kind != Layout::Kind::current && layout.chunk) layouts.push_back(layout);
  }
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  if (!pick.chunk) return;
  Stored stored = then;
  stored.codecs = pick.codecs;
  stored.array.decode = decode_cost(pick.codecs);
  double chunk_bytes = static_cast<double>(stored.array.element_bytes);
  for (const Index length : *pick.chunk) chunk_bytes *= static_cast<double>(length);
  for (const double share : {4.0, 16.0}) {
    SearchLimits limits = question.limits;
    limits.thorough = false;
    limits.max_chunk_bytes = static_cast<std::uint64_t>(chunk_bytes / share);
    if (limits.max_chunk_bytes < limits.min_chunk_bytes.value_or(4096) ||
        limits.max_chunk_bytes < stored.array.element_bytes)
      break;
    layouts.push_back(search_layout(variable, stored, variable.patterns, limits, question, cache));
  }
  if (pick.padding_bytes > 0.01 * pick.size_bytes) {
    SearchLimits limits = question.limits;
    limits.thorough = false;
    limits.max_padding = 1.01;
    layouts.push_back(search_layout(variable, stored, variable.patterns, limits, question, cache));
  }
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const Layout& a, const Layout& b) { return a.objective < b.objective; });
  std::vector<std::vector<double>> points;
  for (const auto& layout : layouts) points.push_back({layout.objective, layout.size_bytes, layout.client_bytes});
  for (const std::size_t i : pareto_front(points)) variable.front.push_back(layouts[i]);
}

void find_copies(Variable& variable, const Stored& then, const Question& question, SearchCache& cache) {
  const auto& patterns = variable.patterns;
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  if (patterns.size() < 2 || !pick.chunk || pick.objective <= 0) return;
  // Begin with the access that the recommended layout makes slowest against what is wanted of it, and all others.
  std::vector<std::size_t> copy_of(patterns.size(), 0);
  std::size_t worst = 0;
  const auto slowness = [&](std::size_t p) {
    return pick.costs[p].seconds / std::max(1.0, pick.costs[p].requests.useful_bytes);
  };
  for (std::size_t p = 1; p < patterns.size(); ++p) {
    if (slowness(p) > slowness(worst)) worst = p;
  }
  copy_of[worst] = 1;
  AdviseReport::Copies best;
  best.objective = pick.objective;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<Layout> layouts;
    for (const std::size_t copy : {std::size_t{0}, std::size_t{1}}) {
      std::vector<AccessPattern> own;
      for (std::size_t p = 0; p < patterns.size(); ++p) {
        if (copy_of[p] == copy) own.push_back(patterns[p]);
      }
      if (own.empty()) break;
      SearchLimits limits = question.limits;
      limits.thorough = false;
      layouts.push_back(search_layout(variable, then, own, limits, question, cache));
    }
    if (layouts.size() < 2) break;
    const auto next = serve(layouts, question);
    const double objective = objective_of(layouts, next, patterns, question);
    if (objective < best.objective) {
      best.layouts = layouts;
      best.copy_of = next;
      best.objective = objective;
    }
    if (next == copy_of) break;
    copy_of = next;
  }
  if (best.layouts.empty()) return;

  // The present file may be one of them.
  if (const Layout* now = variable.find(Layout::Kind::current)) {
    for (std::size_t copy = 0; copy < 2; ++copy) {
      std::vector<Layout> layouts = {*now, best.layouts[1 - copy]};
      const auto with_now = serve(layouts, question);
      const double objective = objective_of(layouts, with_now, patterns, question);
      const bool both_serve =
          std::count(with_now.begin(), with_now.end(), 0u) > 0 && std::count(with_now.begin(), with_now.end(), 1u) > 0;
      if (!both_serve || objective > best.objective * (best.keeps_present ? 1.0 : 1.1)) continue;
      best.layouts = layouts;
      best.copy_of = with_now;
      best.objective = objective;
      best.keeps_present = true;
      break;
    }
  }
  if (pick.objective / best.objective <= question.device.error_factor) return;

  std::vector<double> from_s;
  std::vector<double> to_s;
  for (std::size_t p = 0; p < patterns.size(); ++p) {
    from_s.push_back(pick.costs[p].seconds);
    to_s.push_back(best.layouts[best.copy_of[p]].costs[p].seconds);
    best.weighted_s += patterns[p].weight * to_s.back();
  }
  best.size_bytes = best.layouts[0].size_bytes + best.layouts[1].size_bytes;
  best.layouts[0].name = best.keeps_present ? "current" : "copy 1";
  best.layouts[1].name = best.keeps_present ? "second copy" : "copy 2";
  const bool to_objects = then.array.placement == Placement::one_object;
  if (const auto rewrite = cache.rewrite(variable, best.layouts[1], to_objects, question)) {
    const BreakEven even = break_even(rewrite->seconds, patterns, from_s, to_s);
    best.pattern = even.pattern;
    best.pays_after = even.reads;
  }
  variable.copies = std::move(best);
}

}  // namespace chunkwise
