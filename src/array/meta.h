// What one array is and how it is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "array/dtype.h"
#include "codec/elements.h"
#include "codec/spec.h"
#include "grid/chunk_grid.h"
#include "grid/strided_copy.h"

namespace chunkwise {

enum class Storage {
  chunked,     // a grid of encoded chunks
  contiguous,  // one run of bytes in C order
  compact,     // inside the metadata (HDF5), at most 64 KiB
  virtual_,    // a map of other arrays (HDF5): no elements of its own
};

inline constexpr Index kUnlimited = -1;

/// A box of whole chunks that shares one object, or one part of an object, with an index of where each lies.
struct ShardLevel {
  /// A multiple of the chunk, or of the next level's shape, on every axis.
  Shape shape;
  /// In which order the index counts the axes, as ElementLayout::axes; empty: C order.
  Shape index_axes;
  ByteOrder index_order = ByteOrder::little;
  /// Of the index, after its numbers became bytes. Of fixed size.
  CodecSpecs index_codecs;
  bool index_at_start = false;

  friend bool operator==(const ShardLevel&, const ShardLevel&) = default;
};

/// Value type.
struct ArrayMeta {
  std::string path;  // "/group/name"
  DType dtype;
  Shape shape;
  /// HDF5/netCDF maximum extents, kUnlimited where an axis may grow. Same rank as shape.
  Shape max_shape;
  /// A name per axis, "" where an axis has none; empty if no axis has.
  std::vector<std::string> dims;

  Storage storage = Storage::chunked;
  /// Smallest decodable box. For contiguous and compact: how the source cuts itself (any split along the slowest axes
  /// is possible, see cut_linear in source.h). Every length >= 1, also for empty axes.
  Shape chunk;
  /// Zarr v3: outermost first, each inside the one before. Empty: every chunk stands alone. Chunks are encoded the same
  /// with and without.
  std::vector<ShardLevel> shards;
  ElementLayout layout;
  CodecSpecs codecs;
  /// Chunks at the edge are stored in full size (HDF5, Zarr); false: clipped (contiguous).
  bool pads_edges = true;
  /// HDF5 H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS: overhanging chunks are stored without codecs.
  bool raw_edges = false;
  /// What a never-written element reads as: dtype.bytes bytes in layout.byte_order. Empty: undefined, reads as zeros.
  /// Not the `_FillValue` attribute: that one is in the attributes. For elements of any length see fill_element() in
  /// array/elements.h.
  std::vector<std::byte> fill;
  /// Of strings: said to be ASCII rather than UTF-8 (HDF5 has a tag for it).
  bool ascii_texts = false;

  /// Why the elements cannot be rechunked or moved to another format ("type is compound"); empty: they can.
  std::string unsupported;
  /// Bytes on disk of all stored chunks, and how many there are of n_chunks.
  std::uint64_t stored_bytes = 0;
  Index n_stored_chunks = 0;
  /// n_stored_chunks comes from a part of the store: neither none nor all, whatever the truth.
  bool count_is_estimate = false;

  ChunkGrid grid() const { return ChunkGrid(shape, chunk); }
  /// What is stored together: the outermost shard, or the chunk.
  const Shape& unit() const { return shards.empty() ? chunk : shards.front().shape; }
  /// Decoded bytes of a full chunk. Checked: Error{corrupt} on overflow.
  std::size_t chunk_bytes() const;
};

/// The elements as the first of the codecs sees them.
Elements codec_elements(const ArrayMeta& meta);

/// Stores the elements, and the fill, in this byte order from now on.
void set_byte_order(ArrayMeta& meta, ByteOrder order);

/// True if an encoded chunk of `a` is an encoded chunk of `b` bit for bit (shape, chunk, dtype, layout, codecs, edges).
bool same_encoding(const ArrayMeta& a, const ArrayMeta& b);

}  // namespace chunkwise
