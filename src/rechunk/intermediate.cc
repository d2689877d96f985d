#include "rechunk/intermediate.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "array/scratch_array.h"
#include "model/decode.h"
#include "rechunk/passes.h"
#include "rechunk/price.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

Index meetings(const Shape& array, const Shape& a, const Shape& b) {
  Index n = 1;
  for (int axis = 0; axis < array.rank(); ++axis)
    n = checked_product(Shape{n, reads_along_axis(array[axis], a[axis], b[axis])})
            .value_or(std::numeric_limits<Index>::max());
  return n;
}

/// The two tiles, of whole chunks of the source and of the target, that meet the fewest times. Each is chosen for the
/// other in turn, until neither gets better.
struct Tiles {
  Shape fill;
  Shape drain;
  Index n_meetings = 0;
};

Tiles choose_tiles(const IntermediateRequest& request, std::uint64_t most_bytes) {
  const ArrayMeta& source = request.source;
  const ArrayMeta& target = request.target;
  ArrayMeta filled = target;  // the same elements, by chunks of the source
  filled.chunk = source.chunk;
  filled.shards.clear();
  // Of a tile that meets others of this shape; large meetings are cut further.
  const auto boxes_bytes = [&](const Shape& tile, const Shape& other) {
    constexpr std::uint64_t kUneven = 4;
    return bookkeeping_bytes(target, clip(other, target.shape), tile) +
           box_bytes(target, tile) / request.most_box_bytes * kUneven * kBytesPerRead;
  };
  Tiles best;
  Shape drain = target.chunk;
  for (int round = 0; round < 4; ++round) {
    const Shape fill = find_tile({
        .target = filled,
        .other_chunk = drain,
        .most_bytes = most_bytes,
        .bytes =
            [&](const Shape& tile) {
              return box_bytes(target, tile) + bookkeeping_bytes(source, source.chunk, tile) + boxes_bytes(tile, drain);
            },
        .cost = [&](const Shape& tile) { return static_cast<double>(meetings(target.shape, tile, drain)); },
    });
    drain = find_tile({
        .target = target,
        .other_chunk = fill,
        .most_bytes = most_bytes,
        .most_block_bytes = request.most_block_bytes,
        .bytes = [&](const Shape& tile) { return box_bytes(target, tile) + boxes_bytes(tile, fill); },
        .cost = [&](const Shape& tile) { return static_cast<double>(meetings(target.shape, fill, tile)); },
    });
    const Index n = meetings(target.shape, fill, drain);
    if (round > 0 && n >= best.n_meetings) break;
    best = {fill, drain, n};
  }
  return best;
}

/// Cut where tiles of either stage end, and further into boxes of no more than `most_bytes`, along the slowest axes
/// first.
std::vector<std::vector<Index>> cuts_of(const Shape& array, const Tiles& tiles, std::size_t element_bytes,
                                        std::uint64_t most_bytes) {
  std::vector<std::vector<Index>> cuts;
  std::uint64_t bytes = element_bytes;
  for (int axis = 0; axis < array.rank(); ++axis) {
    cuts.push_back(cuts_of_both(array[axis], tiles.fill[axis], tiles.drain[axis]));
    bytes = saturating_mul(bytes, static_cast<std::uint64_t>(longest(cuts.back(), array[axis])));
  }
  for (int axis = 0; axis < array.rank() && bytes > most_bytes; ++axis) {
    std::vector<Index>& here = cuts[static_cast<std::size_t>(axis)];
    const Index length = longest(here, array[axis]);
    const std::uint64_t of_one = bytes / static_cast<std::uint64_t>(length);
    const Index most = std::max<Index>(1, static_cast<Index>(most_bytes / of_one));
    here = cut_further(here, array[axis], std::min(most, length));
    bytes = of_one * static_cast<std::uint64_t>(longest(here, array[axis]));
  }
  return cuts;
}

/// The most boxes that one tile consists of.
std::uint64_t most_boxes(const Shape& array, const std::vector<std::vector<Index>>& cuts, const Shape& tile) {
  std::uint64_t n = 1;
  for (int axis = 0; axis < array.rank(); ++axis) {
    const std::vector<Index>& here = cuts[static_cast<std::size_t>(axis)];
    std::uint64_t most = 0;
    std::uint64_t count = 0;
    Index tile_number = 0;
    for (const Index at : here) {
      if (at / tile[axis] != tile_number) count = 0;
      tile_number = at / tile[axis];
      most = std::max(most, ++count);
    }
    n = saturating_mul(n, most);
  }
  return n;
}

/// How much of the elements' bytes is stored with these codecs.
double packing(const ArrayMeta& source, const ScratchCodecs& with) {
  constexpr double kBest = 0.02;  // a box is too small for more
  if (with.codecs.empty() || !decode_cost(source.codecs).compresses) return 1;
  const double all =
      static_cast<double>(source.chunk_bytes()) * static_cast<double>(std::max<Index>(source.n_stored_chunks, 1));
  const double of_source = static_cast<double>(source.stored_bytes) / std::max(all, 1.0);
  return std::clamp(of_source * with.size_over_usual, kBest, 1.0);
}

/// With these tiles. False, with `plan` as it was, if they turn out not to fit.
bool go_through(const IntermediateRequest& request, const Tiles& tiles, ArrayPlan& plan) {
  const ArrayMeta& source = request.source;
  const ArrayMeta& target = request.target;
  const std::size_t element_bytes = target.dtype.bytes;
  const std::uint64_t most_bytes = std::max<std::uint64_t>(request.most_box_bytes, element_bytes);
  if (saturating_mul(ScratchArray::index_bytes(1), static_cast<std::uint64_t>(tiles.n_meetings)) >
      request.most_index_bytes)
    return false;

  auto intermediate = std::make_shared<IntermediatePlan>();
  std::vector<std::vector<Index>> cuts = cuts_of(target.shape, tiles, element_bytes, most_bytes);
  std::uint64_t cuts_bytes = 0;
  Shape counts;
  ArrayMeta& meta = intermediate->meta;
  meta.path = target.path;
  meta.dtype = target.dtype;
  meta.shape = target.shape;
  meta.max_shape = target.shape;
  meta.layout.byte_order = target.layout.byte_order;
  meta.pads_edges = false;
  meta.fill = fill_as(source, target);
  for (int axis = 0; axis < target.shape.rank(); ++axis) {
    const std::vector<Index>& here = cuts[static_cast<std::size_t>(axis)];
    cuts_bytes += here.size() * sizeof(Index);
    counts.push_back(static_cast<Index>(here.size()));
    meta.chunk.push_back(longest(here, target.shape[axis]));
  }
  const auto n_boxes = static_cast<std::uint64_t>(checked_product(counts).value_or(std::numeric_limits<Index>::max()));
  intermediate->index_bytes = saturating_mul(n_boxes, ScratchArray::index_bytes(1));
  if (intermediate->index_bytes > request.most_index_bytes) return false;
  constexpr std::uint64_t kGrids = 3;  // the plan's, and those of the two stages
  intermediate->index_bytes += kGrids * cuts_bytes;
  intermediate->n_meetings = tiles.n_meetings;

  ArrayPlan& fill = intermediate->fill;
  fill = plan;
  set_tile(source, meta, tiles.fill, request.room_bytes, fill);
  fill.by_chunks = false;  // boxes differ in size
  const std::uint64_t fill_boxes_bytes = saturating_mul(most_boxes(target.shape, cuts, tiles.fill), kBytesPerRead);
  fill.tile_bytes =
      box_bytes(target, tiles.fill) + bookkeeping_bytes(source, fill.source_chunk, tiles.fill) + fill_boxes_bytes;

  ArrayPlan drain = plan;
  const std::uint64_t drain_boxes_bytes = saturating_mul(most_boxes(target.shape, cuts, tiles.drain), kBytesPerRead);
  set_tile(meta, target, tiles.drain, request.room_bytes - std::min(request.room_bytes, drain_boxes_bytes), drain);
  drain.tile_bytes += drain_boxes_bytes;
  if (fill.tile_bytes > request.room_bytes || drain.tile_bytes > request.room_bytes ||
      drain.block_bytes > request.most_block_bytes)
    return false;
  // What is told of the source is told of the first stage.
  drain.n_source_reads = fill.n_source_reads;
  drain.passes = fill.passes;
  drain.read_bytes = fill.read_bytes;
  intermediate->boxes = CutGrid(target.shape, std::move(cuts));

  const double present =
      static_cast<double>(source.n_stored_chunks) / static_cast<double>(std::max<Index>(source.grid().n_chunks(), 1));
  double best_s = 0;
  CodecSpecs best;
  std::uint64_t best_bytes = 0;
  for (const ScratchCodecs& with : scratch_codecs(element_bytes)) {
    meta.codecs = with.codecs;
    intermediate->scratch_bytes = static_cast<std::uint64_t>(static_cast<double>(plan.decoded_bytes) *
                                                             std::min(1.0, present) * packing(source, with));
    const double seconds = price_of_intermediate(source, target, drain, *intermediate, request.n_threads);
    const bool best_fits = best_s > 0 && best_bytes <= request.free_bytes;
    const bool fits = intermediate->scratch_bytes <= request.free_bytes;
    if (best_s > 0 && (fits == best_fits ? seconds >= best_s : best_fits)) continue;
    best_s = seconds;
    best = with.codecs;
    best_bytes = intermediate->scratch_bytes;
  }
  meta.codecs = best;
  intermediate->scratch_bytes = best_bytes;
  drain.intermediate = std::move(intermediate);
  plan = std::move(drain);
  return true;
}

}  // namespace

BoxNeeds needs_of_boxes(std::size_t element_bytes) {
  BoxNeeds needs;
  const auto bytes = static_cast<std::size_t>(std::max<std::uint64_t>(kBox_bytes, element_bytes));
  for (const ScratchCodecs& with : scratch_codecs(element_bytes)) {
    const CodecChain chain(with.codecs, element_bytes);
    needs.worker = largest(needs.worker, chain.scratch_need(bytes));
    needs.largest_read_bytes = std::max<std::uint64_t>(needs.largest_read_bytes, chain.max_encoded_bytes(bytes));
  }
  return needs;
}

bool go_through_intermediate(const IntermediateRequest& request, ArrayPlan& plan) {
  // How many boxes a tile consists of is known for sure only when they are cut.
  for (std::uint64_t part = 16; part > 8; --part)
    if (go_through(request, choose_tiles(request, request.room_bytes / 16 * part), plan)) return true;
  return false;
}

}  // namespace chunkwise
