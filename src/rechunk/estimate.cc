#include "rechunk/estimate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "codec/chain.h"
#include "model/decode.h"
#include "rechunk/box_reader.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

/// Boxes that are encoded.
constexpr Index kSamples = 12;
/// Chunks of the source that each may reach over: so many, more where they are small.
constexpr std::uint64_t kFewChunks = 16;
constexpr std::uint64_t kManyChunks = 128;
constexpr std::uint64_t kMostDecoded_bytes = 32u << 20;
/// What packs otherwise elsewhere, and in a smaller box than a chunk.
constexpr double kElsewhere = 0.06;
constexpr double kSmaller = 0.1;

/// The chunk of the target that lies about at this part of the way through the grid, cut down until it reaches over few
/// chunks of the source: first along the axis on which it does so the most.
Box sample_box(const ArrayMeta& source, const ArrayMeta& target, const Shape& source_chunk, Index number) {
  const std::uint64_t chunk_bytes = shape_bytes(source_chunk, source.dtype.bytes);
  const auto most_chunks = static_cast<Index>(
      std::clamp(kMostDecoded_bytes / std::max<std::uint64_t>(chunk_bytes, 1), kFewChunks, kManyChunks));
  const ChunkGrid grid = target.grid();
  const auto n_chunks = static_cast<double>(grid.n_chunks());
  // Steps of the golden ratio: apart from each other, and not on one line through the grid.
  const double place = std::fmod((static_cast<double>(number) + 0.5) * 0.6180339887498949, 1.0);
  Box box = grid.box(ChunkId{std::min<Index>(grid.n_chunks() - 1, static_cast<Index>(place * n_chunks))});
  box = intersect(box, whole(source.shape));
  const auto reach = [&](int axis) {
    const Index first = box.origin[axis] / source_chunk[axis];
    return (box.origin[axis] + box.shape[axis] - 1) / source_chunk[axis] - first + 1;
  };
  for (;;) {
    Index n = 1;
    int widest = 0;
    for (int axis = 0; axis < box.shape.rank(); ++axis) {
      n = static_cast<Index>(std::min<std::uint64_t>(
          saturating_mul(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(reach(axis))), 1ULL << 62U));
      if (reach(axis) > reach(widest)) widest = axis;
    }
    if (n <= most_chunks || reach(widest) == 1) return box;
    box.shape[widest] = std::max<Index>(1, box.shape[widest] / 2);
  }
}

}  // namespace

SizeEstimate& SizeEstimate::operator+=(const SizeEstimate& other) {
  bytes += other.bytes;
  low_bytes += other.low_bytes;
  high_bytes += other.high_bytes;
  return *this;
}

SizeEstimate estimate_target(const Reader& reader, const ArrayMeta& source, const ArrayMeta& target,
                             const ArrayPlan& array, const Plan& plan) {
  const auto exactly = [](double bytes) { return SizeEstimate{bytes, bytes, bytes}; };
  const auto stored = static_cast<double>(source.stored_bytes);
  switch (array.kind) {
    case ArrayPlan::Kind::nothing:
      return {};
    case ArrayPlan::Kind::copy_chunks:
      return exactly(stored);
    case ArrayPlan::Kind::elements:
    case ArrayPlan::Kind::by_format:  // as before, if other codecs do not change it
      return {stored, stored / 2, stored * 2};
    case ArrayPlan::Kind::rewrite:
      break;
  }
  const bool in_chunks = target.storage == Storage::chunked;
  const bool compresses = decode_cost(target.codecs).compresses;  // padding then takes nearly nothing
  const double all_bytes =
      in_chunks && target.pads_edges && !compresses
          ? static_cast<double>(target.grid().n_chunks()) * static_cast<double>(target.chunk_bytes())
          : static_cast<double>(array.decoded_bytes);
  const double present =
      static_cast<double>(source.n_stored_chunks) / static_cast<double>(std::max<Index>(source.grid().n_chunks(), 1));
  const bool may_be_absent = in_chunks && present < 1;
  if (!compresses)
    return {all_bytes * (may_be_absent ? present : 1), may_be_absent ? all_bytes * present : all_bytes, all_bytes};

  const std::unique_ptr<ArraySource> uncut = reader.open_array(source.path);
  std::unique_ptr<ArraySource> own;
  const CodecChain chain(target.codecs, target.dtype.bytes);
  CodecChain::Scratch scratch;
  std::vector<double> ratios;
  bool is_smaller = false;
  for (Index i = 0; i < kSamples; ++i) {
    const Box box = sample_box(source, target, array.source_chunk, i);
    if (box.empty()) continue;
    const ArraySource* from = uncut.get();
    if (uncut->meta().storage == Storage::contiguous) {
      own = cut_linear(*uncut, linear_cut(uncut->meta(), box.shape));
      from = own.get();
    }
    Bytes elements;
    BoxReader(*from, target, plan.read_ahead_bytes / 2, 1).read(box, elements);
    const ByteView encoded = chain.encode(elements.view(), scratch);
    Shape at = box.origin;
    for (int axis = 0; axis < at.rank(); ++axis) at[axis] /= target.chunk[axis];
    is_smaller = is_smaller || box.shape != target.grid().box(target.grid().id(at)).shape;
    ratios.push_back(static_cast<double>(encoded.size()) /
                     static_cast<double>(std::max<std::size_t>(elements.size(), 1)));
    if (target.grid().n_chunks() == 1) break;
  }
  if (ratios.empty()) return {};
  const auto n = static_cast<double>(ratios.size());
  double mean = 0;
  for (const double ratio : ratios) mean += ratio / n;
  double variance = 0;
  for (const double ratio : ratios) variance += (ratio - mean) * (ratio - mean) / std::max(1.0, n - 1);
  const double error = 2 * std::sqrt(variance / n) + (is_smaller ? kSmaller : kElsewhere) * mean;
  return {all_bytes * mean, all_bytes * std::max(0.0, mean - error), all_bytes * (mean + error)};
}

}  // namespace chunkwise
