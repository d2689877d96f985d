#include "rechunk/tile_run.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/error.h"

namespace chunkwise {
namespace {

/// Row-major number of a grid position inside `box`.
Index position_in(const Box& box, const Shape& at) {
  Index position = 0;
  for (int axis = 0; axis < at.rank(); ++axis) position = position * box.shape[axis] + at[axis] - box.origin[axis];
  return position;
}

/// True if a source chunk that exists shares an element with `box`.
bool any_present(const TileRun& tile, const Box& box) {
  if (tile.all_absent) return false;
  const CutGrid& grid = tile.array->source_grid;
  const Box covered = intersect(box, whole(grid.array()));
  if (covered.empty()) return false;
  const Box chunks = grid.boxes_of(covered);
  const int rank = chunks.shape.rank();
  Shape at = chunks.origin;
  for (;;) {
    if (tile.present[static_cast<std::size_t>(position_in(tile.source_chunks, at))] != 0) return true;
    int axis = rank - 1;
    while (axis >= 0 && ++at[axis] == chunks.origin[axis] + chunks.shape[axis]) {
      at[axis] = chunks.origin[axis];
      --axis;
    }
    if (axis < 0) return false;
  }
}

/// What a target chunk holds as it is encoded.
Box stored_box_of(const ArrayRun& array, ChunkId id) {
  return array.target->pads_edges ? array.sink->grid().full_box(id) : array.target_grid.box(id);
}

/// Where a target chunk lies in a tile kept by chunks.
std::size_t slot_offset_bytes(const TileRun& tile, const Shape& chunk_coords) {
  return static_cast<std::size_t>(position_in(tile.target_chunks, chunk_coords)) * tile.array->target->chunk_bytes();
}

/// Brings `part` of a decoded source chunk to all target chunks it meets. Ready for many small pieces: strides and
/// chunk lengths are looked up once.
void scatter_to_chunks(TileRun& tile, const BoxCopy& copy, const std::byte* decoded) {
  const ArrayRun& array = *tile.array;
  const ArrayMeta& target = *array.target;
  const ChunkGrid& grid = array.sink->grid();
  const Box& part = copy.part;
  const Box chunks = grid.chunks_of(part);
  BoxCopy piece = copy;
  piece.dst_layout = target.layout;
  piece.dst_box = {part.origin, grid.chunk()};
  const int rank = part.shape.rank();
  const std::size_t chunk_bytes = target.chunk_bytes();
  Shape at = chunks.origin;
  for (;;) {
    for (int axis = 0; axis < rank; ++axis) {
      const Index begin = at[axis] * grid.chunk()[axis];
      const Index end = std::min(begin + grid.chunk()[axis], grid.array()[axis]);
      piece.dst_box.origin[axis] = begin;
      if (!target.pads_edges) piece.dst_box.shape[axis] = end - begin;
      const Index first = std::max(begin, part.origin[axis]);
      piece.part.origin[axis] = first;
      piece.part.shape[axis] = std::min(end, part.origin[axis] + part.shape[axis]) - first;
    }
    const auto slot = static_cast<std::size_t>(position_in(tile.target_chunks, at)) * chunk_bytes;
    copy_box(piece, decoded, tile.elements.data() + slot);
    int axis = rank - 1;
    for (; axis >= 0; --axis) {
      if (++at[axis] < chunks.origin[axis] + chunks.shape[axis]) break;
      at[axis] = chunks.origin[axis];
    }
    if (axis < 0) return;
  }
}

}  // namespace

std::size_t elements_bytes(const TileRun& tile) {
  const ArrayMeta& target = *tile.array->target;
  if (tile.array->plan->by_chunks)
    return static_cast<std::size_t>(product(tile.target_chunks.shape)) * target.chunk_bytes();
  return static_cast<std::size_t>(product(tile.box.shape)) * target.dtype.bytes;
}

std::uint64_t hash_of(const EncodedChunk& chunk) {
  return chunk.absent ? 0 : XXH3_64bits(chunk.bytes.data(), chunk.bytes.size());
}

void require_unchanged(const ArrayRun& array, ChunkId id, const EncodedChunk& chunk, std::uint64_t read_hash) {
  if (hash_of(chunk) == read_hash) return;
  const std::string where =
      fmt::format("encoded chunk {} of {}", to_string(array.source_grid.coords(id)), array.plan->path);
  ReadBatch again;
  array.source->read(std::span(&id, 1), again);
  const ByteView now = chunk.bytes;
  const ByteView wanted = again.chunks[0].bytes;
  std::size_t at = 0;
  while (at < now.size() && at < wanted.size() && now[at] == wanted[at]) ++at;
  if (at == now.size() || at == wanted.size())
    throw Error(Code::mismatch, fmt::format("{} was another for a while after it was read", where));
  throw Error(Code::mismatch,
              fmt::format("{} changed in memory after it was read: byte {} is 0x{:02x}, was 0x{:02x}", where, at,
                          std::to_integer<unsigned>(now[at]), std::to_integer<unsigned>(wanted[at])),
              "the memory of this machine is not to be trusted");
}

void require_all_out(const TileRun& tile) {
  const std::uint64_t in = tile.sum_in;
  const std::uint64_t out = tile.sum_out;
  if (in == out) return;
  throw Error(
      Code::mismatch,
      fmt::format("{}: the elements from ({}) on, {} of them, were read with the content sum {:016x} and are to "
                  "be written with {:016x}",
                  tile.array->plan->path, fmt::join(tile.box.origin.begin(), tile.box.origin.end(), ", "),
                  to_string(tile.box.shape), in, out),
      "the memory of this machine is not to be trusted");
}

void decode_chunk(TileRun& tile, ChunkId id, const EncodedChunk& chunk, std::optional<std::uint64_t> read_hash,
                  Worker& worker) {
  const ArrayRun& array = *tile.array;
  const ArrayMeta& source = array.source->meta();
  const CutGrid& grid = array.source_grid;
  const Clock::time_point begin = Clock::now();
  const Box stored_box = source.pads_edges ? array.source->grid().full_box(id) : grid.box(id);
  const std::size_t decoded_bytes = static_cast<std::size_t>(product(stored_box.shape)) * source.dtype.bytes;
  ByteView decoded;
  if (chunk.absent) {
    tile.present[static_cast<std::size_t>(position_in(tile.source_chunks, grid.coords(id)))] = 0;
    Bytes& filled = worker.scratch.b;
    filled.resize_discard(decoded_bytes);
    fill_elements(filled.span(), array.source_fill);
    decoded = filled.view();
  } else {
    try {
      decoded = array.decode.decode(chunk.bytes, decoded_bytes, chunk.skipped_codecs, worker.scratch);
    } catch (Error& e) {
      if (read_hash) require_unchanged(array, id, chunk, *read_hash);
      throw e.in(fmt::format("chunk {} of {}", to_string(grid.coords(id)), array.plan->path));
    }
    if (read_hash) require_unchanged(array, id, chunk, *read_hash);
  }
  if (!array.change.empty()) {
    worker.changed.resize_discard(decoded.size());
    std::copy(decoded.begin(), decoded.end(), worker.changed.span().begin());
    array.change.apply(worker.changed.span());
    decoded = worker.changed.view();
  }
  BoxCopy copy;
  copy.src_box = stored_box;
  copy.src_layout = source.layout;
  copy.part = intersect(grid.box(id), tile.box);
  copy.element = array.change.empty() ? source.dtype.element() : array.target->dtype.element();
  if (array.content) {
    const std::uint64_t sum = array.content->of(copy.part, stored_box, source.layout, decoded.data());
    tile.sum_in += sum;
    if (array.reads_scratch && array.scratch_sum) *array.scratch_sum -= sum;
  }
  if (array.plan->by_chunks) {
    scatter_to_chunks(tile, copy, decoded.data());
  } else {
    copy.dst_box = tile.box;
    copy.dst_layout.byte_order = array.target->layout.byte_order;
    copy_box(copy, decoded.data(), tile.elements.data());
  }
  worker.totals.decode_s += seconds_since(begin);
  if (!chunk.absent) worker.totals.decoded_bytes += decoded_bytes;
}

namespace {

/// A target chunk ready to be encoded; lies in the tile or in the worker's scratch.
ByteView gather_chunk(TileRun& tile, ChunkId id, const Box& stored_box, bool overhangs, Worker& worker) {
  const ArrayRun& array = *tile.array;
  const ArrayMeta& target = *array.target;
  const CutGrid& grid = array.target_grid;
  const Box box = grid.box(id);
  const auto stored_bytes = static_cast<std::size_t>(product(stored_box.shape)) * target.dtype.bytes;
  if (array.plan->by_chunks) {
    const MutableByteView slot = tile.elements.span().subspan(slot_offset_bytes(tile, grid.coords(id)), stored_bytes);
    if (overhangs && target.pads_edges) fill_outside(stored_box, box, target.layout, array.target_fill, slot.data());
    return slot;
  }
  if (stored_box == tile.box && target.layout.axes.rank() == 0) return tile.elements.view();
  Bytes& gathered = worker.scratch.b;  // where the chain may encode from
  gathered.resize_discard(stored_bytes);
  BoxCopy copy;
  copy.src_box = tile.box;
  copy.src_layout.byte_order = target.layout.byte_order;
  copy.dst_box = stored_box;
  copy.dst_layout = target.layout;
  copy.part = box;
  copy.element = target.dtype.element();
  copy_box(copy, tile.elements.data(), gathered.data());
  if (overhangs && target.pads_edges) fill_outside(stored_box, box, target.layout, array.target_fill, gathered.data());
  return gathered.view();
}

void add_sum(TileRun& tile, const Box& box, const Box& stored_box, ByteView decoded) {
  const ArrayRun& array = *tile.array;
  if (!array.content) return;
  const std::uint64_t sum = array.content->of(box, stored_box, array.target->layout, decoded.data());
  tile.sum_out += sum;
  if (array.fills_scratch && array.scratch_sum) *array.scratch_sum += sum;
}

}  // namespace

void count_chunk(TileRun& tile, ChunkId id, Worker& worker) {
  const ArrayRun& array = *tile.array;
  const Box box = array.target_grid.box(id);
  // An absent one is all fill, and adds nothing.
  if (array.absent_stays_absent && !any_present(tile, box)) return;
  const Box stored_box = stored_box_of(array, id);
  add_sum(tile, box, stored_box, gather_chunk(tile, id, stored_box, array.sink->grid().overhangs(id), worker));
}

std::optional<ChunkProof> encode_chunk(TileRun& tile, ChunkId id, Worker& worker) {
  const ArrayRun& array = *tile.array;
  const ArrayMeta& target = *array.target;
  const CutGrid& grid = array.target_grid;
  const Box box = grid.box(id);
  const bool sampled = !array.fills_scratch && (array.content || is_sampled(array.sink->grid(), id));
  const std::optional<ChunkProof> absent =
      sampled && target.storage == Storage::chunked ? std::optional<ChunkProof>({id, 0, true}) : std::nullopt;
  if (array.absent_stays_absent && !any_present(tile, box)) {
    array.sink->write(id, {{}, 0, true});
    if (!array.fills_scratch) ++worker.totals.n_chunks_absent;
    if (!sampled || absent) return absent;
    // In one run of bytes its place is filled.
    Bytes& filled = worker.scratch.b;
    filled.resize_discard(static_cast<std::size_t>(product(stored_box_of(array, id).shape)) * target.dtype.bytes);
    fill_elements(filled.span(), array.target_fill);
    return ChunkProof{id, XXH3_64bits(filled.data(), filled.size()), false};
  }
  Clock::time_point begin = Clock::now();
  const bool overhangs = !array.fills_scratch && array.sink->grid().overhangs(id);
  const Box stored_box = stored_box_of(array, id);
  const ByteView decoded = gather_chunk(tile, id, stored_box, overhangs, worker);
  add_sum(tile, box, stored_box, decoded);
  // What reads the same unwritten need not be written.
  if (array.leaves_out_fill && all_equal(decoded, array.target_fill)) {
    array.sink->write(id, {{}, 0, true});
    ++worker.totals.n_chunks_absent;
    worker.totals.gather_s += seconds_since(begin);
    return absent;
  }
  std::optional<ChunkProof> proof;
  if (sampled) proof = ChunkProof{id, XXH3_64bits(decoded.data(), decoded.size()), false};
  worker.totals.gather_s += seconds_since(begin);

  begin = Clock::now();
  EncodedChunk chunk;
  try {
    if (target.raw_edges && overhangs) {
      chunk.bytes = decoded;
      chunk.skipped_codecs = ~std::uint32_t{0};
    } else {
      chunk.bytes = array.encode.encode(decoded, worker.scratch,
                                        array.sink->keeps_skipped_codecs() ? &chunk.skipped_codecs : nullptr);
    }
    worker.totals.encode_s += seconds_since(begin);
    worker.totals.encoded_bytes += decoded.size();
    begin = Clock::now();
    array.sink->write(id, chunk);
  } catch (Error& e) {
    throw e.in(fmt::format("chunk {} of {}", to_string(grid.coords(id)), array.plan->path));
  }
  worker.totals.write_s += seconds_since(begin);
  if (array.fills_scratch) {
    worker.totals.scratch_written_bytes += chunk.bytes.size();
  } else {
    worker.totals.written_bytes += chunk.bytes.size();
    ++worker.totals.n_chunks_written;
  }
  return proof;
}

EncodedChunk with_all_codecs(const EncodedChunk& chunk, const ArrayMeta& meta, Worker& worker) {
  const CodecChain chain(meta.codecs, meta.dtype.bytes);
  const Bytes decoded =
      Bytes::copy_of(chain.decode(chunk.bytes, meta.chunk_bytes(), chunk.skipped_codecs, worker.scratch));
  EncodedChunk result;
  result.bytes = chain.encode(decoded.view(), worker.scratch);
  return result;
}

}  // namespace chunkwise
