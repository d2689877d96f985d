#include "rechunk/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "array/element_change.h"
#include "array/shard_sink.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "rechunk/shard_blocks.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
/// Bookkeeping per source chunk of a tile: its id, address, and presence.
constexpr std::uint64_t kBytesPerRead = 48;
/// A thread's stack and the allocator's own room for it.
constexpr std::uint64_t kThreadBytes = 640u << 10;
/// A contiguous source pays about this much per separate run, in bytes it could have read instead.
constexpr double kRunCost_bytes = 32.0 * 1024;
constexpr std::uint64_t kLinearCut_bytes = kMiB;
/// The least for what elements refer to, when their format moves them; a long list may need more.
constexpr std::uint64_t kReferred_bytes = 4 * kMiB;
constexpr std::uint64_t kUsefulReferred_bytes = 64 * kMiB;
/// Tiles in flight have this much if it is there, so that many small ones do not wait for each other.
constexpr std::uint64_t kLeastTiles_bytes = 32 * kMiB;

std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b) {
  return checked_mul(a, b).value_or(std::numeric_limits<std::uint64_t>::max());
}

std::uint64_t shape_bytes(const Shape& shape, std::size_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (Index length : shape) bytes = saturating_mul(bytes, static_cast<std::uint64_t>(std::max<Index>(length, 0)));
  return bytes;
}

Shape clip(const Shape& shape, const Shape& array) {
  Shape result = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) result[axis] = std::min(shape[axis], std::max<Index>(array[axis], 1));
  return result;
}

/// Tile lengths worth trying on one axis, longest first: whole target chunks; the distinct ceil(n/k), and the lengths
/// whose ends lie on or just before ends of source chunks, both thinned to `most`. Where there are shards, none that
/// cuts across them.
std::vector<Index> lengths_on_axis(const ArrayMeta& target, int axis, Index source_chunk, std::size_t most) {
  const Index extent = target.shape[axis];
  const Index chunk = target.chunk[axis];
  const Index n = ceil_div(std::max<Index>(extent, 1), chunk);
  std::vector<Index> counts;
  for (Index k = 1; k <= n;) {
    const Index count = ceil_div(n, k);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    if (count == 1) break;
    // The smallest k with a smaller count; after many steps go on geometrically.
    k = counts.size() < most / 2 + 1 ? k + 1 : std::max(k + 1, k + k / 2);
  }
  if (counts.empty() || counts.back() != 1) counts.push_back(1);
  const auto thin = [&](std::vector<Index>& values) {
    if (values.size() <= most) return;
    std::vector<Index> thinned;
    for (std::size_t i = 0; i < most; ++i) thinned.push_back(values[i * (values.size() - 1) / (most - 1)]);
    values = std::move(thinned);
  };
  thin(counts);
  std::vector<Index> aligned;
  const Index n_source = extent / source_chunk;
  const Index step = std::max<Index>(1, n_source / static_cast<Index>(4 * most));
  for (Index k = n_source; k >= 1; k -= step) {
    const Index count = k * source_chunk / chunk;
    if (count >= 1 && (aligned.empty() || aligned.back() != count)) aligned.push_back(count);
  }
  thin(aligned);
  counts.insert(counts.end(), aligned.begin(), aligned.end());
  counts = whole_in_shards(target, axis, counts);
  std::sort(counts.begin(), counts.end(), std::greater<>());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<Index> lengths;
  for (Index count : counts) lengths.push_back(count * chunk);
  return lengths;
}

/// Memory of a tile's elements as one box.
std::uint64_t box_bytes(const ArrayMeta& target, const Shape& tile) {
  return shape_bytes(clip(tile, target.shape), target.dtype.bytes);
}

/// True if the pieces in which source and target chunks meet are worth a copy of their own.
bool meet_in_large_pieces(const ArrayMeta& target, const Shape& source_chunk) {
  constexpr std::uint64_t kPieceBytes = 2048;
  Shape piece = target.chunk;
  for (int axis = 0; axis < piece.rank(); ++axis) piece[axis] = std::min(piece[axis], source_chunk[axis]);
  return shape_bytes(piece, target.dtype.bytes) >= kPieceBytes;
}

/// Cost of reading the source once per tile, in bytes-like units: relative among tiles of one array.
double read_cost(const ArrayMeta& source, const Shape& tile) {
  if (source.storage != Storage::contiguous) {
    double reads = 1;
    for (int axis = 0; axis < tile.rank(); ++axis)
      reads *= static_cast<double>(reads_along_axis(source.shape[axis], source.chunk[axis], tile[axis]));
    return reads * static_cast<double>(source.chunk_bytes());
  }
  // A run is all of the fastest axes that a tile spans, times the tile's length on the next one.
  double run_bytes = static_cast<double>(source.dtype.bytes);
  for (int axis = tile.rank() - 1; axis >= 0; --axis) {
    run_bytes *= static_cast<double>(std::min(tile[axis], source.shape[axis]));
    if (tile[axis] < source.shape[axis]) break;
  }
  return static_cast<double>(shape_bytes(source.shape, source.dtype.bytes)) * (1 + kRunCost_bytes / run_bytes);
}

/// A thread's buffers grow to the largest of each that any array needs.
CodecChain::ScratchNeed largest(const CodecChain::ScratchNeed& a, const CodecChain::ScratchNeed& b) {
  return {std::max(a.a_bytes, b.a_bytes), std::max(a.b_bytes, b.b_bytes), std::max(a.codec_bytes, b.codec_bytes)};
}

struct Needs {
  CodecChain::ScratchNeed worker;
  std::uint64_t least_tile_bytes = 0;
  std::uint64_t largest_read_bytes = 0;
};

std::uint64_t bookkeeping_bytes(const ArrayMeta& source, const Shape& source_chunk, const Shape& tile) {
  std::uint64_t chunks = 1;
  for (int axis = 0; axis < tile.rank(); ++axis)
    chunks = saturating_mul(
        chunks, static_cast<std::uint64_t>(ceil_div(std::min(tile[axis], source.shape[axis]), source_chunk[axis]) + 1));
  const auto all = static_cast<std::uint64_t>(ChunkGrid(source.shape, source_chunk).n_chunks());
  return saturating_mul(std::min(chunks, all), kBytesPerRead);
}

/// True if the stored chunks of the source can become the target's as they are.
bool copies_encoded(const ArrayMeta& source, const ArrayMeta& target) {
  if (source.storage == Storage::contiguous && target.storage == Storage::contiguous)
    return source.dtype == target.dtype && source.layout == target.layout && source.shape == target.shape &&
           source.n_stored_chunks > 0;
  return same_encoding(source, target) &&
         (source.fill == target.fill || source.n_stored_chunks == source.grid().n_chunks());
}

/// Elements that the format moves: it holds some chunks of both sides, decoded and encoded, and what they refer to.
void needs_by_format(const ArrayMeta& source, const ArrayMeta& target, Needs& needs, ArrayPlan& plan) {
  plan.kind = ArrayPlan::Kind::by_format;
  needs.least_tile_bytes = saturating_mul(2, source.chunk_bytes()) + saturating_mul(2, target.chunk_bytes());
  needs.least_tile_bytes += kReferred_bytes;
  plan.tile = target.chunk;
  plan.n_tiles = plan.n_target_chunks;
  plan.tile_bytes = needs.least_tile_bytes;
  plan.n_source_reads = source.n_stored_chunks;
  plan.read_bytes = source.stored_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
}

/// Elements of any length: how long they are is known only when they are read, so this is a guess.
void needs_elements(const ArrayMeta& source, const ArrayMeta& target, Needs& needs, ArrayPlan& plan) {
  constexpr std::uint64_t kShares = 4;         // see element_copy.cc
  constexpr std::uint64_t kDecodedFactor = 4;  // of an encoded chunk
  constexpr std::size_t kTypicalStream_bytes = 1u << 20;
  if (source.dtype.kind == DType::Kind::object)
    throw Error(Code::unsupported, fmt::format("{} can only be copied as they are stored", source.dtype.name()),
                "keep chunks and codecs, or leave the array out with --exclude");
  plan.kind = ArrayPlan::Kind::elements;
  const std::uint64_t typical =
      source.stored_bytes / static_cast<std::uint64_t>(std::max<Index>(source.n_stored_chunks, 1));
  const std::uint64_t tables = saturating_mul(2, source.chunk_bytes()) + saturating_mul(2, target.chunk_bytes());
  // Where elements refer, the format runs its codecs itself.
  const auto chain_of = [](const ArrayMeta& meta) {
    return meta.dtype.refers ? CodecChain() : CodecChain(meta.codecs, meta.dtype.codec_bytes());
  };
  const CodecChain decode = chain_of(source);
  const CodecChain encode = chain_of(target);
  encode.require_lossless();
  const std::uint64_t of_codecs = std::max(decode.scratch_need(kTypicalStream_bytes).codec_bytes,
                                           encode.scratch_need(kTypicalStream_bytes).codec_bytes);
  needs.least_tile_bytes = saturating_mul(kShares, tables) + saturating_mul(kShares * kDecodedFactor, typical) +
                           kShares * of_codecs + kReferred_bytes;
  plan.tile = target.chunk;
  plan.n_tiles = plan.n_target_chunks;
  plan.n_source_reads = source.n_stored_chunks;
  plan.read_bytes = source.stored_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
}

/// Fills what does not depend on the memory; throws for codecs that cannot run.
Needs needs_of(const ArrayMeta& source, const ArrayMeta& target, ArrayPlan& plan) {
  Needs needs;
  plan.path = target.path;
  plan.n_target_chunks = target.grid().n_chunks();
  plan.source_chunk = source.chunk;
  // Nothing to move: no elements, or none ever written and both sides read them alike.
  const bool by_format = source.dtype.refers && target.dtype.refers;
  const bool same_fill = by_format || (source.dtype.is_varying() ? source.fill == target.fill
                                                                 : fill_as(source, target) ==
                                                                       fill_in_order(target, target.layout.byte_order));
  const bool empty =
      product(target.shape) == 0 || target.storage == Storage::virtual_ || (source.n_stored_chunks == 0 && same_fill);
  if (!empty && by_format) {
    needs_by_format(source, target, needs, plan);
    return needs;
  }
  if (!empty && source.dtype.is_varying() && !copies_encoded(source, target)) {
    needs_elements(source, target, needs, plan);
    return needs;
  }
  if (empty || copies_encoded(source, target)) {
    plan.kind = empty ? ArrayPlan::Kind::nothing : ArrayPlan::Kind::copy_chunks;
    if (empty) return needs;
    plan.source_chunk = target.chunk;
    plan.block = block_of(target, target.unit());
    plan.n_tiles = plan.n_target_chunks;
    plan.n_source_reads = plan.n_target_chunks;
    plan.tile = target.chunk;
    plan.read_bytes = source.stored_bytes;
    plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
    plan.block_bytes = block_bytes(target, plan.block);
    const std::uint64_t typical =
        source.stored_bytes / static_cast<std::uint64_t>(std::max<Index>(source.n_stored_chunks, 1));
    // Nothing is decoded, so a codec that cannot run here is no obstacle; twice the chunk bounds all real codecs.
    needs.largest_read_bytes = std::max<std::uint64_t>(typical, saturating_mul(source.chunk_bytes(), 2)) + 64 * 1024;
    plan.largest_read_bytes = needs.largest_read_bytes;
    return needs;
  }
  plan.kind = ArrayPlan::Kind::rewrite;
  const CodecChain decode(source.codecs, source.dtype.bytes);
  const CodecChain encode(target.codecs, target.dtype.bytes);
  encode.require_lossless();
  const Shape least = clip(target.chunk, target.shape);
  const Shape cut = source.storage != Storage::contiguous ? source.chunk : linear_cut(source, least);
  const std::uint64_t source_bytes = shape_bytes(cut, source.dtype.bytes);
  const std::uint64_t target_bytes = target.chunk_bytes();
  needs.largest_read_bytes = decode.max_encoded_bytes(source_bytes) + 64 * 1024;
  const CodecChain::ScratchNeed to_decode = decode.scratch_need(source_bytes);
  const CodecChain::ScratchNeed to_encode = encode.scratch_need(target_bytes);
  needs.worker = largest(to_decode, to_encode);
  needs.worker.codec_bytes = to_decode.codec_bytes + to_encode.codec_bytes;
  if (!ElementChange(source, target).empty()) needs.worker.codec_bytes += source_bytes;  // Worker::changed
  needs.least_tile_bytes = shape_bytes(least, target.dtype.bytes) + bookkeeping_bytes(source, cut, least);
  plan.largest_read_bytes = needs.largest_read_bytes;
  plan.decoded_bytes = shape_bytes(target.shape, target.dtype.bytes);
  return needs;
}

/// Of `most_bytes` or less, unless it is one chunk.
void set_tile(const ArrayMeta& source, const ArrayMeta& target, const Shape& tile, std::uint64_t most_bytes,
              ArrayPlan& plan) {
  plan.tile = tile;
  plan.block = block_of(target, tile);
  plan.block_bytes = block_bytes(target, plan.block);
  plan.n_tiles = ChunkGrid(target.shape, tile).n_chunks();
  plan.source_chunk = source.storage != Storage::contiguous ? source.chunk : linear_cut(source, tile);
  plan.n_source_reads = 1;
  for (int axis = 0; axis < tile.rank(); ++axis)
    plan.n_source_reads *= reads_along_axis(source.shape[axis], plan.source_chunk[axis], tile[axis]);
  const Index n_source = ChunkGrid(source.shape, plan.source_chunk).n_chunks();
  plan.passes = static_cast<double>(plan.n_source_reads) / static_cast<double>(std::max<Index>(n_source, 1));
  const double stored = source.storage != Storage::contiguous ? static_cast<double>(source.stored_bytes)
                                                              : static_cast<double>(plan.decoded_bytes);
  plan.read_bytes = static_cast<std::uint64_t>(stored * plan.passes);
  const std::uint64_t bookkeeping = bookkeeping_bytes(source, plan.source_chunk, tile);
  const std::uint64_t by_chunks_bytes = shape_bytes(tile, target.dtype.bytes);
  plan.by_chunks = meet_in_large_pieces(target, plan.source_chunk) && by_chunks_bytes <= most_bytes &&
                   bookkeeping <= most_bytes - by_chunks_bytes;
  plan.tile_bytes = (plan.by_chunks ? by_chunks_bytes : box_bytes(target, tile)) + bookkeeping;
}

}  // namespace

std::vector<std::byte> fill_in_order(const ArrayMeta& meta, ByteOrder order) {
  if (meta.fill.empty()) return std::vector<std::byte>(meta.dtype.bytes);
  std::vector<std::byte> fill = meta.fill;
  if (order != meta.layout.byte_order) swap_words(meta.dtype, fill);
  return fill;
}

std::vector<std::byte> fill_as(const ArrayMeta& source, const ArrayMeta& target) {
  const ElementChange change(source, target);
  if (change.empty()) return fill_in_order(source, target.layout.byte_order);
  std::vector<std::byte> fill = fill_in_order(source, source.layout.byte_order);
  change.apply(fill);
  return fill;
}

Index reads_along_axis(Index extent, Index source_chunk, Index tile) {
  if (extent == 0) return 0;
  // Every source chunk is read once, and once more for each tile boundary that falls inside a chunk.
  const Index n_chunks = ceil_div(extent, source_chunk);
  if (tile >= extent || tile % source_chunk == 0) return n_chunks;
  const Index n_boundaries = ceil_div(extent, tile) - 1;
  // Boundaries k*tile that are multiples of source_chunk: every source_chunk/gcd-th one.
  Index a = tile;
  Index b = source_chunk;
  while (b != 0) std::swap(a = a % b, b);
  return n_chunks + n_boundaries - n_boundaries / (source_chunk / a);
}

Shape linear_cut(const ArrayMeta& source, const Shape& tile) {
  const int rank = source.shape.rank();
  Shape cut = Shape::filled(rank, 1);
  int split = rank - 1;  // the slowest axis of a run
  while (split > 0 && tile[split] >= source.shape[split]) --split;
  // Go inward while one step along the axis is already large.
  std::uint64_t inner_bytes = source.dtype.bytes;
  for (int axis = rank - 1; axis > split; --axis)
    inner_bytes = saturating_mul(inner_bytes, static_cast<std::uint64_t>(std::max<Index>(source.shape[axis], 1)));
  while (split < rank - 1 && inner_bytes > kLinearCut_bytes) {
    ++split;
    inner_bytes /= static_cast<std::uint64_t>(std::max<Index>(source.shape[split], 1));
  }
  if (rank == 0) return cut;
  for (int axis = split + 1; axis < rank; ++axis) cut[axis] = std::max<Index>(source.shape[axis], 1);
  // The largest divisor of the tile's length that fits, so that no run straddles two tiles.
  const Index length = std::max<Index>(std::min(tile[split], source.shape[split]), 1);
  const Index most = std::max<Index>(1, static_cast<Index>(kLinearCut_bytes / std::max<std::uint64_t>(inner_bytes, 1)));
  if (length >= source.shape[split] || length <= most) {
    cut[split] = std::min(length, most);
  } else {
    Index best = 1;
    for (Index k = 1; k * k <= length; ++k) {
      if (length % k != 0) continue;
      if (k <= most) best = std::max(best, k);
      if (length / k <= most) best = std::max(best, length / k);
    }
    cut[split] = best;
  }
  return cut;
}

Shape choose_tile(const ArrayMeta& source, const ArrayMeta& target, std::uint64_t most_bytes,
                  std::uint64_t most_block_bytes) {
  const int rank = target.shape.rank();
  if (rank == 0) return {};
  static constexpr std::size_t kLengths[] = {0, 1000, 200, 48, 20, 10, 7, 5};
  const std::size_t n_wide = static_cast<std::size_t>(
      std::count_if(target.shape.begin(), target.shape.end(), [](Index length) { return length > 1; }));
  const std::size_t most_lengths = n_wide < std::size(kLengths) ? std::max<std::size_t>(kLengths[n_wide], 2) : 3;
  std::vector<std::vector<Index>> lengths;
  for (int axis = 0; axis < rank; ++axis)
    lengths.push_back(lengths_on_axis(target, axis, source.chunk[axis], most_lengths));

  Shape best = target.chunk;
  double best_cost = std::numeric_limits<double>::infinity();
  std::uint64_t best_bytes = 0;
  Shape tile = target.chunk;
  // Depth first, largest lengths first; a tile that is too large already in its smallest completion ends the branch.
  std::function<void(int)> visit = [&](int axis) {
    if (axis == rank) {
      const std::uint64_t bytes = box_bytes(target, tile) + bookkeeping_bytes(source, source.chunk, tile);
      if (bytes > most_bytes || block_bytes(target, block_of(target, tile)) > most_block_bytes) return;
      const double cost = read_cost(source, tile);
      // Equal cost: the smaller tile, so that more of them are in flight and their memory serves again; but not below
      // 1 MiB. What long runs of a contiguous source save beyond one percent is no reason for a larger one.
      const double tolerance = source.storage == Storage::contiguous ? 0.01 : 1e-9;
      const bool cheaper = cost < best_cost * (1 - tolerance);
      const bool equal = cost <= best_cost * (1 + tolerance);
      const bool better_size = best_bytes < kMiB ? bytes > best_bytes : (bytes < best_bytes && bytes >= kMiB);
      if (cheaper || (equal && better_size)) {
        best = tile;
        best_cost = cost;
        best_bytes = bytes;
      }
      return;
    }
    for (Index length : lengths[static_cast<std::size_t>(axis)]) {
      tile[axis] = length;
      Shape smallest = tile;
      for (int rest = axis + 1; rest < rank; ++rest) smallest[rest] = target.chunk[rest];
      if (box_bytes(target, smallest) <= most_bytes) visit(axis + 1);
    }
    tile[axis] = target.chunk[axis];
  };
  visit(0);
  return best;
}

namespace {

/// Tiles in flight that keep all threads busy: one is enough if it has several chunks for each of them, since chunks of
/// the next one are read meanwhile.
std::uint64_t useful_tiles(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan, int n_threads) {
  const auto chunks_in_tile = [&](const Shape& shape, const Shape& chunk) {
    std::uint64_t n = 1;
    for (int axis = 0; axis < shape.rank(); ++axis)
      n = saturating_mul(n, static_cast<std::uint64_t>(
                                ceil_div(std::min(plan.tile[axis], std::max<Index>(shape[axis], 1)), chunk[axis])));
    return n;
  };
  const std::uint64_t fewest =
      std::min(chunks_in_tile(source.shape, plan.source_chunk), chunks_in_tile(target.shape, target.chunk));
  const auto wanted = 4 * static_cast<std::uint64_t>(n_threads);
  return fewest >= wanted ? 1 : (wanted + fewest - 1) / fewest;
}

/// Chooses all tiles for a read-ahead of this size; `room_bytes` is for tiles and what the read-ahead has above its
/// least.
void choose_tiles(const std::vector<PlanInput>& arrays, std::uint64_t read_ahead_bytes, std::uint64_t least_read_ahead,
                  std::uint64_t room_bytes, Plan& plan) {
  plan.read_ahead_bytes = read_ahead_bytes;
  const std::uint64_t most_bytes = room_bytes - (read_ahead_bytes - least_read_ahead);
  std::uint64_t useful_bytes = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ArrayPlan& array = plan.arrays[i];
    if (array.kind == ArrayPlan::Kind::by_format) useful_bytes = std::max(useful_bytes, kUsefulReferred_bytes);
    // One encoded chunk may be nearly all there is.
    if (array.kind == ArrayPlan::Kind::copy_chunks && arrays[i].source->dtype.is_varying())
      useful_bytes = std::max(useful_bytes, saturating_mul(array.read_bytes, 2));
    if (array.kind != ArrayPlan::Kind::rewrite) continue;
    const ArrayMeta& source = *arrays[i].source;
    const ArrayMeta& target = *arrays[i].target;
    set_tile(source, target, choose_tile(source, target, most_bytes, plan.shards_bytes), most_bytes, array);
    const std::uint64_t n_useful = useful_tiles(source, target, array, plan.n_threads);
    // Where one tile has too few chunks for all threads, smaller ones are worth a few percent more reads.
    if (saturating_mul(n_useful, array.tile_bytes) > most_bytes) {
      ArrayPlan smaller = array;
      const std::uint64_t share = most_bytes / n_useful;
      set_tile(source, target, choose_tile(source, target, share, plan.shards_bytes), share, smaller);
      if (smaller.tile_bytes < array.tile_bytes &&
          static_cast<double>(smaller.n_source_reads) <= 1.03 * static_cast<double>(array.n_source_reads))
        array = smaller;
    }
    useful_bytes = std::max(useful_bytes, saturating_mul(n_useful, array.tile_bytes));
  }
  // Memory that is not used need not be fetched from the system.
  plan.tiles_bytes = std::min(most_bytes, std::max(useful_bytes, kLeastTiles_bytes));
  for (ArrayPlan& array : plan.arrays) {
    if (array.kind == ArrayPlan::Kind::by_format) array.tile_bytes = plan.tiles_bytes;
    if (array.kind == ArrayPlan::Kind::elements) array.tile_bytes = most_bytes;
  }
}

double total_reads(const Plan& plan) {
  double bytes = 0;
  for (const ArrayPlan& array : plan.arrays)
    if (array.kind == ArrayPlan::Kind::rewrite) bytes += static_cast<double>(array.decoded_bytes) * array.passes;
  return bytes;
}

/// Memory for shards that are being written.
struct ShardNeed {
  std::uint64_t least_bytes = 0;  // one at a time
  std::uint64_t all_bytes = 0;    // all of an array at once
  std::uint64_t finishing_bytes = 0;

  void add(const ArrayMeta& target) {
    if (target.shards.empty()) return;
    least_bytes = std::max(least_bytes, block_bytes(target, target.unit()));
    all_bytes = std::max(all_bytes, block_bytes(target, target.shape));
    finishing_bytes = std::max(finishing_bytes, ShardSink::finishing_bytes(target));
  }
  std::string text() const {
    return least_bytes == 0 ? "" : fmt::format("one shard's index {}, ", format_bytes(least_bytes + finishing_bytes));
  }
};

}  // namespace

Plan make_plan(const std::vector<PlanInput>& arrays, const PlanRequest& request) {
  Plan plan;
  plan.memory_bytes = request.memory_bytes;
  plan.base_bytes = request.base_bytes;
  plan.allows_loss = request.allows_loss;
  plan.n_threads = std::max(1, request.n_threads);
  CodecChain::ScratchNeed worker_need;
  ShardNeed shards;
  std::uint64_t least_tile = 0;
  std::uint64_t largest_read = 64 * 1024;
  std::string largest_path;
  for (const PlanInput& input : arrays) {
    ArrayPlan& array = plan.arrays.emplace_back();
    Needs needs;
    try {
      needs = needs_of(*input.source, *input.target, array);
    } catch (Error& e) {
      throw e.in(input.target->path);
    }
    if (array.kind != ArrayPlan::Kind::nothing) shards.add(*input.target);
    worker_need = largest(worker_need, needs.worker);
    largest_read = std::max(largest_read, needs.largest_read_bytes);
    if (needs.least_tile_bytes > least_tile) {
      least_tile = needs.least_tile_bytes;
      largest_path = input.target->path;
    }
  }

  const std::uint64_t worker = worker_need.total_bytes() + kThreadBytes;
  // Read-ahead beyond a few chunks only helps while there is memory to spare.
  const std::uint64_t least_read_ahead = largest_read + largest_read / 4;
  const auto fixed = [&](int n_threads) {
    return plan.base_bytes + static_cast<std::uint64_t>(n_threads) * worker + least_read_ahead + shards.least_bytes +
           shards.finishing_bytes;
  };
  const std::uint64_t least = fixed(1) + least_tile;
  if (least > request.memory_bytes) {
    // The process is never of quite the same size twice, so the value named has some room.
    const std::uint64_t least_mib = ceil_div(least + kMiB + least / 64, kMiB);
    throw Error(
        Code::budget,
        fmt::format("does not fit into --memory {}: the process needs {}, one thread {}, {}and the smallest tile{} {}",
                    format_bytes(request.memory_bytes), format_bytes(plan.base_bytes), format_bytes(worker),
                    shards.text(), largest_path.empty() ? "" : " of " + largest_path,
                    format_bytes(least_tile + least_read_ahead)),
        fmt::format("the least that works is --memory {}MiB", least_mib));
  }
  while (plan.n_threads > 1 && fixed(plan.n_threads) + least_tile > request.memory_bytes) --plan.n_threads;
  plan.worker_bytes = worker;
  std::uint64_t spare = request.memory_bytes - fixed(plan.n_threads) - least_tile;
  const std::uint64_t more_shards = std::min(spare / 8, shards.all_bytes - shards.least_bytes);
  plan.shards_bytes = shards.least_bytes + more_shards;
  spare -= more_shards;
  // A long read-ahead hides the disk; a short one leaves more for tiles. The long one wins unless the source would be
  // read noticeably more often.
  Plan longer = plan;
  choose_tiles(arrays, least_read_ahead + std::min<std::uint64_t>(spare / 8, 48 * kMiB), least_read_ahead,
               spare + least_tile, longer);
  choose_tiles(arrays, least_read_ahead + std::min<std::uint64_t>(spare / 64, 4 * kMiB), least_read_ahead,
               spare + least_tile, plan);
  return total_reads(longer) > 1.05 * total_reads(plan) ? plan : longer;
}

}  // namespace chunkwise
