// Which box of an array to work on at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "array/meta.h"

namespace chunkwise {

struct ArrayPlan;

/// Bookkeeping for a chunk or box of a tile that is in flight: its id, address, and presence.
inline constexpr std::uint64_t kBytesPerRead = 48;

/// a * b, or the largest number there is.
std::uint64_t saturating_mul(std::uint64_t a, std::uint64_t b);
/// Of all elements of a box of this shape; saturates.
std::uint64_t shape_bytes(const Shape& shape, std::size_t element_bytes);
/// No longer than the array on any axis, but at least 1.
Shape clip(const Shape& shape, const Shape& array);

/// Memory of a tile's elements as one box.
std::uint64_t box_bytes(const ArrayMeta& target, const Shape& tile);

/// A search for the cheapest tile among whole chunks of `target`.
struct TileSearch {
  const ArrayMeta& target;
  /// Chunks that a tile should not cut across without need.
  Shape other_chunk;
  std::uint64_t most_bytes = 0;
  /// Of all shards of a block, see shard_blocks.h.
  std::uint64_t most_block_bytes = ~std::uint64_t{0};
  /// Memory of a tile, and what it costs: relative, the same kind for all tiles.
  std::function<std::uint64_t(const Shape&)> bytes;
  std::function<double(const Shape&)> cost;
  /// Tiles within this part of each other count as equally cheap.
  double tolerance = 1e-9;
};
/// One chunk of the target if nothing fits.
Shape find_tile(const TileSearch& search);

/// The tile of at most `most_bytes`, in blocks of at most `most_block_bytes`, that needs the fewest source reads, or
/// one target chunk if none fits.
Shape choose_tile(const ArrayMeta& source, const ArrayMeta& target, std::uint64_t most_bytes,
                  std::uint64_t most_block_bytes = ~std::uint64_t{0});

/// How a contiguous source is cut for tiles of this shape: runs of bytes of about 1 MiB that do not straddle tiles.
Shape linear_cut(const ArrayMeta& source, const Shape& tile);

/// Sum over the tiles along one axis of the source chunks each touches.
Index reads_along_axis(Index extent, Index source_chunk, Index tile);

/// Memory to keep track of a tile's source chunks.
std::uint64_t bookkeeping_bytes(const ArrayMeta& source, const Shape& source_chunk, const Shape& tile);

/// Enters the tile, of `most_bytes` or less unless it is one chunk, and all that follows from it.
void set_tile(const ArrayMeta& source, const ArrayMeta& target, const Shape& tile, std::uint64_t most_bytes,
              ArrayPlan& plan);

/// Tiles in flight that keep all threads busy: one is enough if it has several chunks for each of them, since chunks of
/// the next one are read meanwhile.
std::uint64_t useful_tiles(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan, int n_threads);

}  // namespace chunkwise
