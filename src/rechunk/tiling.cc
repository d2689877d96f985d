#include "rechunk/tiling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/checked.h"
#include "rechunk/plan.h"
#include "rechunk/shard_blocks.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
/// A contiguous source pays about this much per separate run, in bytes it could have read instead.
constexpr double kRunCost_bytes = 32.0 * 1024;
constexpr std::uint64_t kLinearCut_bytes = kMiB;

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

}  // namespace

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

std::uint64_t box_bytes(const ArrayMeta& target, const Shape& tile) {
  return shape_bytes(clip(tile, target.shape), target.dtype.bytes);
}

Shape find_tile(const TileSearch& search) {
  const ArrayMeta& target = search.target;
  const int rank = target.shape.rank();
  if (rank == 0) return {};
  static constexpr std::size_t kLengths[] = {0, 1000, 200, 48, 20, 10, 7, 5};
  const std::size_t n_wide = static_cast<std::size_t>(
      std::count_if(target.shape.begin(), target.shape.end(), [](Index length) { return length > 1; }));
  const std::size_t most_lengths = n_wide < std::size(kLengths) ? std::max<std::size_t>(kLengths[n_wide], 2) : 3;
  std::vector<std::vector<Index>> lengths;
  for (int axis = 0; axis < rank; ++axis)
    lengths.push_back(lengths_on_axis(target, axis, search.other_chunk[axis], most_lengths));

  Shape best = target.chunk;
  double best_cost = std::numeric_limits<double>::infinity();
  std::uint64_t best_bytes = 0;
  Shape tile = target.chunk;
  const auto fits = [&](const Shape& shape) {
    return search.bytes(shape) <= search.most_bytes &&
           block_bytes(target, block_of(target, shape)) <= search.most_block_bytes;
  };
  const auto consider = [&](const Shape& shape) {
    if (!fits(shape)) return;
    const std::uint64_t bytes = search.bytes(shape);
    const double cost = search.cost(shape);
    // Equal cost: the smaller tile, so that more of them are in flight and their memory serves again; but not below
    // 1 MiB.
    const bool cheaper = cost < best_cost * (1 - search.tolerance);
    const bool equal = cost <= best_cost * (1 + search.tolerance);
    const bool better_size = best_bytes < kMiB ? bytes > best_bytes : (bytes < best_bytes && bytes >= kMiB);
    if (cheaper || (equal && better_size)) {
      best = shape;
      best_cost = cost;
      best_bytes = bytes;
    }
  };
  // Depth first, largest lengths first; a tile that is too large already in its smallest completion ends the branch.
  std::function<void(int)> visit = [&](int axis) {
    if (axis == rank) {
      consider(tile);
      return;
    }
    for (Index length : lengths[static_cast<std::size_t>(axis)]) {
      tile[axis] = length;
      Shape smallest = tile;
      for (int rest = axis + 1; rest < rank; ++rest) smallest[rest] = target.chunk[rest];
      if (box_bytes(target, smallest) <= search.most_bytes) visit(axis + 1);
    }
    tile[axis] = target.chunk[axis];
  };
  visit(0);

  // Between the lengths that were tried: as long as fits on one axis, or somewhat shorter where that comes out even.
  const auto lengthen = [&](Shape shape, int axis) {
    const Index chunk = target.chunk[axis];
    const Index n = ceil_div(std::max<Index>(target.shape[axis], 1), chunk);
    const auto with_count = [&](Index count) {
      shape[axis] = whole_in_shards(target, axis, {count}).front() * chunk;
      return shape;
    };
    Index most = 1;
    for (Index too_many = n + 1; most + 1 < too_many;) {
      const Index middle = most + (too_many - most) / 2;
      (fits(with_count(middle)) ? most : too_many) = middle;
    }
    consider(with_count(ceil_div(n, ceil_div(n, most))));
    const Index other = search.other_chunk[axis];
    if (other <= most * chunk) consider(with_count(std::max<Index>(1, most * chunk / other * other / chunk)));
    consider(with_count(most));
    return with_count(most);
  };
  for (const bool from_last : {true, false}) {
    Shape grown = target.chunk;
    for (int i = 0; i < rank; ++i) grown = lengthen(grown, from_last ? rank - 1 - i : i);
  }
  for (int axis = 0; axis < rank; ++axis) lengthen(best, axis);
  return best;
}

Shape choose_tile(const ArrayMeta& source, const ArrayMeta& target, std::uint64_t most_bytes,
                  std::uint64_t most_block_bytes) {
  return find_tile({
      .target = target,
      .other_chunk = source.chunk,
      .most_bytes = most_bytes,
      .most_block_bytes = most_block_bytes,
      .bytes =
          [&](const Shape& tile) { return box_bytes(target, tile) + bookkeeping_bytes(source, source.chunk, tile); },
      .cost = [&](const Shape& tile) { return read_cost(source, tile); },
      // What long runs of a contiguous source save beyond one percent is no reason for a larger tile.
      .tolerance = source.storage == Storage::contiguous ? 0.01 : 1e-9,
  });
}

std::uint64_t bookkeeping_bytes(const ArrayMeta& source, const Shape& source_chunk, const Shape& tile) {
  std::uint64_t chunks = 1;
  for (int axis = 0; axis < tile.rank(); ++axis)
    chunks = saturating_mul(
        chunks, static_cast<std::uint64_t>(ceil_div(std::min(tile[axis], source.shape[axis]), source_chunk[axis]) + 1));
  const auto all = static_cast<std::uint64_t>(ChunkGrid(source.shape, source_chunk).n_chunks());
  return saturating_mul(std::min(chunks, all), kBytesPerRead);
}

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
  plan.read_bytes = static_cast<std::uint64_t>(std::llround(stored * plan.passes));
  const std::uint64_t bookkeeping = bookkeeping_bytes(source, plan.source_chunk, tile);
  const std::uint64_t by_chunks_bytes = shape_bytes(tile, target.dtype.bytes);
  plan.by_chunks = meet_in_large_pieces(target, plan.source_chunk) && by_chunks_bytes <= most_bytes &&
                   bookkeeping <= most_bytes - by_chunks_bytes;
  plan.tile_bytes = (plan.by_chunks ? by_chunks_bytes : box_bytes(target, tile)) + bookkeeping;
}

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

}  // namespace chunkwise
