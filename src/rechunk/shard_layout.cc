#include "rechunk/shard_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

/// Whole chunks that cover an axis.
Index cover(const ArrayMeta& meta, int axis) {
  return ceil_div(std::max<Index>(meta.shape[axis], 1), meta.chunk[axis]) * meta.chunk[axis];
}

bool may_grow(const ArrayMeta& meta, int axis) {
  return axis < meta.max_shape.rank() && meta.max_shape[axis] != meta.shape[axis];
}

/// As asked, or less where the array is shorter.
Index shard_length(const ArrayMeta& meta, int axis, Index asked, std::vector<std::string>& notes) {
  const Index longest = cover(meta, axis);
  if (asked == 0) return longest;
  const bool is_too_long = asked > longest || (asked >= meta.shape[axis] && asked % meta.chunk[axis] != 0);
  if (!is_too_long || may_grow(meta, axis)) return asked;
  notes.push_back(fmt::format("{}: {} has {} elements, so its shards have {}, not {}", meta.path, axis_name(meta, axis),
                              meta.shape[axis], longest, asked));
  return longest;
}

/// What is wrong with shards of this shape, or nothing.
std::optional<Error> refusal(const ArrayMeta& meta, const Shape& shard, bool are_kept) {
  for (int axis = 0; axis < shard.rank(); ++axis) {
    const Index chunk = meta.chunk[axis];
    const Index length = shard[axis];
    if (length % chunk == 0) continue;
    const std::string name = axis_name(meta, axis);
    const std::string what =
        fmt::format("{}: {}shards of {} along {}", meta.path, are_kept ? "the source's " : "", length, name);
    // As -c and --shards take it.
    const bool has_name = !meta.dims.empty() && !meta.dims[static_cast<std::size_t>(axis)].empty();
    const std::string label = has_name ? name : fmt::format("{}", axis);
    const std::string keep_out = are_kept ? ", or --shards none" : "";
    if (length < chunk)
      return Error(Code::usage, fmt::format("{} are smaller than the chunks of {}", what, chunk),
                   fmt::format("shards hold whole chunks: --shards is the larger, -c the smaller; ask --shards {}/{}{}",
                               label, chunk, keep_out));
    const Index below = length - length % chunk;
    return Error(Code::usage, fmt::format("{} are no multiple of the chunks of {}", what, chunk),
                 fmt::format("ask --shards {}/{} or {}/{}{}", label, below, label, below + chunk, keep_out));
  }
  return std::nullopt;
}

/// The shards there are, in whole chunks.
Shape nearest(const ArrayMeta& meta) {
  Shape shard = meta.unit();
  for (int axis = 0; axis < shard.rank(); ++axis) {
    const Index chunk = meta.chunk[axis];
    shard[axis] = std::max<Index>(1, (shard[axis] + chunk / 2) / chunk) * chunk;
  }
  return shard;
}

ShardLevel level_of(const ArrayMeta& before, const Shape& shape) {
  ShardLevel level;
  if (before.shards.empty())
    level.index_codecs = {CodecSpec{"crc32c", {}}};
  else
    level = before.shards.front();
  level.shape = shape;
  level.index_axes = {};  // the order all readers have
  return level;
}

/// The box of whole chunks of at most these bytes, in the proportions of the array.
Shape most_chunks(const ArrayMeta& meta, std::uint64_t most_bytes) {
  const Shape counts = meta.grid().counts();
  Shape n = proportional_lengths(counts, meta.chunk_bytes(), most_bytes);
  const auto fits = [&](const Shape& some) {
    double bytes = static_cast<double>(meta.chunk_bytes());
    for (const Index length : some) bytes *= static_cast<double>(length);
    return bytes <= static_cast<double>(most_bytes);
  };
  // Proportions are rounded down; what that left may hold a few more.
  for (bool grows = true; grows;) {
    grows = false;
    for (int axis = 0; axis < n.rank(); ++axis) {
      Shape longer = n;
      ++longer[axis];
      if (longer[axis] > counts[axis] || !fits(longer)) continue;
      n = longer;
      grows = true;
    }
  }
  return n;
}

void apply_shards(const ChunkSpec& spec, const ArrayMeta& before, ArrayMeta& meta, std::vector<std::string>& notes) {
  const int rank = meta.shape.rank();
  const auto does_not_apply = [&](const std::string& why) {
    notes.push_back(fmt::format("{}: {}, so --shards {} does not apply", meta.path, why, spec.text));
  };
  if (spec.kind == ChunkSpec::Kind::keep) {
    meta.shards = before.shards;
    return;
  }
  if (spec.kind == ChunkSpec::Kind::none) {
    meta.shards.clear();
    return;
  }
  // What is asked of all variables is meant for those with something to gather.
  if (rank == 0 || (spec.variable.empty() && meta.grid().n_chunks() <= 1)) return;
  Shape shard = meta.shards.empty() ? meta.chunk : meta.unit();
  if (spec.kind == ChunkSpec::Kind::bytes) {
    if (spec.bytes < 2 * meta.chunk_bytes())
      return does_not_apply(fmt::format("its chunks have {} each", format_bytes(meta.chunk_bytes())));
    const Shape n_chunks = most_chunks(meta, spec.bytes);
    for (int axis = 0; axis < rank; ++axis) shard[axis] = n_chunks[axis] * meta.chunk[axis];
  } else {
    if (spec.kind == ChunkSpec::Kind::list && static_cast<int>(spec.lengths.size()) != rank)
      return does_not_apply(fmt::format("has {} axes", rank));
    bool touched = false;
    for (std::size_t i = 0; i < spec.lengths.size(); ++i) {
      const auto& [dim, length] = spec.lengths[i];
      const int axis = spec.kind == ChunkSpec::Kind::list ? static_cast<int>(i) : axis_of(meta, dim);
      if (axis < 0) continue;
      shard[axis] = shard_length(meta, axis, length, notes);
      touched = true;
    }
    if (!touched) return;
  }
  if (spec.variable.empty()) {
    if (shard == meta.chunk) return meta.shards.clear();
    if (rank == 1 && refusal(meta, shard, false))
      return does_not_apply(fmt::format("its chunks have {} elements", meta.chunk[0]));
  }
  meta.shards = {level_of(before, shard)};
}

}  // namespace

void set_shards(const std::vector<const ChunkSpec*>& specs, bool chunk_lengths_given, const ArrayMeta& before,
                ArrayMeta& meta, std::vector<std::string>& notes) {
  for (const ChunkSpec* spec : specs) apply_shards(*spec, before, meta, notes);
  if (meta.storage != Storage::chunked) meta.shards.clear();
  if (meta.shards.empty()) return;
  const bool are_kept = meta.shards == before.shards;
  auto error = refusal(meta, meta.unit(), are_kept);
  if (!error) return;
  if (!are_kept || chunk_lengths_given) throw std::move(*error);
  meta.shards.front().shape = nearest(meta);
  notes.push_back(fmt::format("{}: its shards of {} become {}, whole chunks of {}", meta.path, to_string(before.unit()),
                              to_string(meta.unit()), to_string(meta.chunk)));
}

}  // namespace chunkwise
