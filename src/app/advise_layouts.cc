#include "app/advise_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/advise_rewrite.h"
#include "base/error.h"
#include "model/stored_size.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

double bytes_of(const Shape& shape, std::size_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const Index length : shape) bytes *= static_cast<double>(length);
  return bytes;
}

/// The shards of a store around other chunks: as many whole ones as come nearest on each axis.
LayoutShape shard_around(const Shape& chunk, const ArrayMeta& meta) {
  if (meta.shards.empty()) return {};
  Shape shard = meta.unit();
  for (int axis = 0; axis < shard.rank(); ++axis) {
    const Index n = std::max<Index>(1, (shard[axis] + chunk[axis] / 2) / chunk[axis]);
    shard[axis] = n * chunk[axis];
  }
  return shard == chunk ? LayoutShape() : shard;
}

bool within(const Layout& layout, const Stored& stored, const Question& question) {
  if (!layout.chunk) return false;
  const SearchLimits& limits = question.limits;
  const double bytes = bytes_of(*layout.chunk, stored.array.element_bytes);
  const auto least = least_chunk_bytes(limits, bytes_of(stored.array.shape, stored.array.element_bytes));
  const auto most = greatest_chunk_bytes(limits, stored.array, question.device);
  const bool few = !limits.max_objects || layout.n_objects <= static_cast<double>(*limits.max_objects);
  return bytes >= static_cast<double>(std::min(least, most)) && bytes <= static_cast<double>(most) && few;
}

/// What sampled data says of a layout's size.
void apply_sample(Layout& layout, const SizeSampler& sampler, const Stored& stored, bool quickly) {
  if (!layout.chunk || layout.codecs.empty()) return;
  const SampledRatio sampled = sampler.ratio(*layout.chunk, layout.codecs, quickly);
  const double decoded = bytes_of(stored.array.shape, stored.array.element_bytes) * stored.written;
  layout.size_bytes = decoded * sampled.ratio + layout.index_bytes;
  layout.size_low_bytes = decoded * sampled.low + layout.index_bytes;
  layout.size_high_bytes = decoded * sampled.high + layout.index_bytes;
  layout.size_is_sampled = true;
}

/// The array as it would be stored with these codecs.
Stored with_codecs(const Stored& stored, const CodecSpecs& codecs, const SizeSampler& sampler) {
  Stored other = stored;
  other.codecs = codecs;
  other.array.decode = decode_cost(codecs);
  const Shape block = stored.array.chunk ? *stored.array.chunk : stored.array.shape;
  other.array.stored_ratio = sampler.ratio(block, codecs).ratio;
  return other;
}

struct Pick {
  Layout layout;
  Stored stored;
};

/// The best chunks for each of the codecs, and of those the best.
Pick search_codecs(Variable& variable, const Stored& then, const SizeSampler* sampler, const Question& question,
                   SearchCache& cache) {
  std::vector<Stored> options = {then};
  if (sampler != nullptr && !sampler->empty()) {
    for (const auto& codecs : question.codecs) {
      if (codecs != then.codecs) options.push_back(with_codecs(then, codecs, *sampler));
    }
  } else if (!question.codecs.empty()) {
    variable.notes.push_back(
        fmt::format("codecs were not compared: {}", sampler == nullptr ? "nothing was sampled" : sampler->why_not()));
  }
  std::optional<Pick> best;
  bool within_limits = true;
  for (const Stored& stored : options) {
    const auto found = cache.find(stored, variable.axes, variable.patterns, question, question.limits);
    LayoutShape shard = found.shard;
    if (!question.sharded) shard = shard_around(found.chunks.chunk, variable.target);
    Layout layout = price_layout(Layout::Kind::recommended, "recommended", found.chunks.chunk, shard, stored,
                                 variable.patterns, question);
    layout.proven = found.chunks.proven;
    if (best && layout.objective >= best->layout.objective) continue;
    best = Pick{std::move(layout), stored};
    within_limits = found.chunks.within_limits;
  }
  if (!within_limits) {
    const std::string what = question.limits.max_objects
                                 ? "layout meets the limits on chunk size, padding and number of objects"
                                 : "chunk shape meets the limits on chunk size and padding";
    variable.notes.push_back(fmt::format("no {} exactly", what));
  }
  return *best;
}

}  // namespace

Stored stored_now(const ArrayMeta& meta, bool in_objects, const Client& client) {
  Stored stored;
  const bool chunked = meta.storage == Storage::chunked;
  stored.array.shape = meta.shape;
  stored.array.element_bytes = meta.dtype.bytes;
  if (chunked) stored.array.chunk = meta.chunk;
  if (!meta.shards.empty()) stored.array.shard = meta.unit();
  stored.array.placement = in_objects ? Placement::one_object : Placement::one_file;
  stored.array.client = &client;
  stored.array.n_growing_axes = static_cast<int>(std::count(meta.max_shape.begin(), meta.max_shape.end(), kUnlimited));
  stored.array.pads_edges = chunked ? meta.pads_edges : true;
  stored.array.decode = decode_cost(meta.codecs);
  stored.codecs = meta.codecs;
  if (meta.stored_bytes == 0) return stored;  // nothing written yet: priced as if full, one byte for one
  if (chunked) {
    const Index n_chunks = meta.grid().n_chunks();
    if (n_chunks > 0 && meta.n_stored_chunks > 0) {
      stored.written = std::min(1.0, static_cast<double>(meta.n_stored_chunks) / static_cast<double>(n_chunks));
    }
  }
  const double full_bytes = stored_size_bytes(stored.array) * stored.written;  // at one byte for one
  stored.array.stored_ratio = static_cast<double>(meta.stored_bytes) / full_bytes;
  return stored;
}

Stored stored_then(const ArrayMeta& target, bool in_objects, const Stored& now, const Client& client) {
  Stored stored = now;
  stored.array.shard.reset();
  if (!target.shards.empty()) stored.array.shard = target.unit();
  stored.array.placement = in_objects ? Placement::one_object : Placement::one_file;
  stored.array.client = &client;
  stored.array.pads_edges = true;  // of chunks, which is what a target gets
  if (target.storage == Storage::chunked) stored.array.pads_edges = target.pads_edges;
  stored.codecs = target.codecs;
  stored.array.decode = decode_cost(target.codecs);
  // Codecs of another name compress about as well; without any, a byte is a byte.
  if (!stored.array.decode.compresses || !now.array.decode.compresses) stored.array.stored_ratio = 1;
  if (target.codecs == now.codecs) stored.array.stored_ratio = now.array.stored_ratio;
  return stored;
}

ShardedResult SearchCache::find(const Stored& stored, const Axes& axes, const std::vector<AccessPattern>& patterns,
                                const Question& question, const SearchLimits& limits) {
  StoredArray array = stored.array;
  // Ratios within 5 % of each other share a search.
  array.stored_ratio = std::pow(1.05, std::round(std::log(array.stored_ratio) / std::log(1.05)));
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {}", to_string(array.shape), array.element_bytes,
                                array.stored_ratio, array.pads_edges, array.decode.s_per_byte, array.decode.compresses,
                                static_cast<int>(array.placement), limits.max_chunk_bytes, limits.max_padding) +
                    (limits.thorough ? "" : " roughly");
  if (array.shard && !question.sharded) key += " in " + to_string(*array.shard);
  for (const bool unlimited : axes.unlimited) key += unlimited ? 'u' : 'f';
  for (const auto& pattern : patterns)
    key += fmt::format(" {}/{}@{}", to_string(pattern.extents), to_string(pattern.steps), pattern.weight);
  if (const auto known = results_.find(key); known != results_.end()) return known->second;
  ShardedResult result;
  if (question.sharded) {
    result = search_sharded(array, axes.unlimited, patterns, question.device, limits, question.goal);
  } else {
    result.chunks = search_chunks(array, axes.unlimited, patterns, question.device, limits, question.goal);
  }
  results_.emplace(key, result);
  return result;
}

std::optional<AdviseReport::Rewrite> SearchCache::rewrite(const Variable& variable, const Layout& layout,
                                                          bool to_objects, const Question& question) {
  const ArrayMeta& meta = variable.meta;
  const std::string key = fmt::format(
      "{} {} {} {} {} -> {} {} {} {}", to_string(meta.shape), meta.dtype.name(), to_string(meta.chunk),
      to_string(meta.codecs), meta.stored_bytes, layout.chunk ? to_string(*layout.chunk) : "",
      layout.shard ? to_string(*layout.shard) : "", to_string(layout.codecs), std::llround(layout.size_bytes));
  if (const auto known = rewrites_.find(key); known != rewrites_.end()) return known->second;
  return rewrites_.emplace(key, rewrite_cost(variable, layout, to_objects, question)).first->second;
}

Layout price_layout(Layout::Kind kind, const std::string& name, const LayoutShape& chunk, const LayoutShape& shard,
                    const Stored& stored, const std::vector<AccessPattern>& patterns, const Question& question) {
  Layout layout;
  layout.kind = kind;
  layout.name = name;
  layout.chunk = chunk;
  layout.shard = shard;
  StoredArray array = stored.array;
  array.chunk = chunk;
  array.shard = layout.shard;
  if (chunk) {
    layout.codecs = stored.codecs;
  } else if (stored.array.chunk) {  // a contiguous array has no codecs
    array.decode = {};
    array.stored_ratio = 1;
  }
  std::vector<double> values;
  for (const auto& pattern : patterns) {
    layout.costs.push_back(price(array, pattern, question.device));
    layout.weighted_s += pattern.weight * layout.costs.back().seconds;
    values.push_back(question.goal.value(layout.costs.back()));
  }
  layout.objective = question.goal.combine(values, patterns);
  const double written = chunk ? stored.written : 1.0;
  layout.padding_bytes = padding_bytes(array) * written;
  layout.index_bytes = index_bytes(array);
  layout.size_bytes = stored_size_bytes(array) * written + layout.index_bytes;
  layout.size_low_bytes = layout.size_high_bytes = layout.size_bytes;
  if (chunk) {
    layout.client_bytes = client_bytes(array, bytes_of(*chunk, array.element_bytes), question.device);
    layout.n_objects =
        array.placement == Placement::one_object ? count_objects(array.shape, shard ? *shard : *chunk) : 1;
  }
  return layout;
}

void price_layouts(Variable& variable, const Stored& now, const Stored& then, const SizeSampler* sampler,
                   const Question& question, SearchCache& cache) {
  const auto& patterns = variable.patterns;
  const auto priced = [&](Layout::Kind kind, const std::string& name, const LayoutShape& chunk) {
    const LayoutShape shard = chunk ? shard_around(*chunk, variable.target) : LayoutShape();
    return price_layout(kind, name, chunk, shard, then, patterns, question);
  };
  std::vector<Layout> others;
  for (const auto& candidate : question.candidates) {
    const auto bound = bind(candidate, variable.axes);
    if (const auto* chunk = std::get_if<LayoutShape>(&bound)) {
      others.push_back(priced(Layout::Kind::candidate, "candidate", *chunk));
    } else {
      variable.notes.push_back(
          fmt::format("candidate {} does not apply: {}", candidate.text, std::get<NotApplicable>(bound).why));
    }
  }
  std::vector<Layout> policies;
  PolicyInput input{variable.axes.shape, variable.axes.unlimited, variable.meta.dtype.bytes, variable.axes.names,
                    patterns};
  if (variable.exists) input.stored = now.array.chunk;
  for (const auto& policy : question.policies) {
    const Shape chunk = policy.chunk(input);
    if (policy.row->shard == nullptr) {
      policies.push_back(priced(Layout::Kind::policy, policy.name, chunk));
      continue;
    }
    LayoutShape shard = policy.row->shard(input, chunk);
    if (*shard == chunk) shard.reset();
    Stored in_store = then;
    in_store.array.placement = Placement::one_object;
    in_store.array.client = &question.zarr_client;
    policies.push_back(price_layout(Layout::Kind::policy, policy.name, chunk, shard, in_store, patterns, question));
  }
  std::stable_sort(policies.begin(), policies.end(),
                   [](const Layout& a, const Layout& b) { return a.objective < b.objective; });

  Pick pick = search_codecs(variable, then, sampler, question, cache);
  Layout& best = pick.layout;
  const auto consider = [&](const Layout& layout, bool allowed) {
    if (!allowed || layout.objective >= best.objective) return;
    best = layout;
    best.kind = Layout::Kind::recommended;
    best.name = "recommended";
  };
  for (const auto* list : {&others, &policies}) {
    for (const auto& layout : *list) consider(layout, within(layout, then, question));
  }
  if (variable.exists) {
    const bool chunked = variable.meta.storage == Storage::chunked;
    const LayoutShape chunk = chunked ? LayoutShape(variable.meta.chunk) : LayoutShape();
    Layout current = price_layout(Layout::Kind::current, "current", chunk, now.array.shard, now, patterns, question);
    if (variable.meta.stored_bytes > 0) {
      current.size_bytes = static_cast<double>(variable.meta.stored_bytes) + current.index_bytes;
      current.size_low_bytes = current.size_high_bytes = current.size_bytes;
    }
    // In another format it would be stored otherwise.
    const bool stays = then.array.placement == now.array.placement && then.codecs == now.codecs;
    const bool any_size = !question.limits.max_objects && !question.limits.max_client_bytes;
    consider(current, stays && (any_size || within(current, then, question)));
    variable.layouts.push_back(std::move(current));
  }
  if (sampler != nullptr && !sampler->empty()) {
    apply_sample(best, *sampler, then, false);
    for (auto& layout : others) apply_sample(layout, *sampler, then, false);
    for (auto& layout : policies) apply_sample(layout, *sampler, then, !question.sample_asked_for);
  }
  if (question.top && policies.size() > *question.top) policies.resize(*question.top);
  variable.layouts.push_back(best);
  for (auto* list : {&others, &policies}) std::move(list->begin(), list->end(), std::back_inserter(variable.layouts));
}

}  // namespace chunkwise
