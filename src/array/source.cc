#include "array/source.h"

#include <fmt/format.h>

#include "base/error.h"

namespace chunkwise {
namespace {

// Runs of a contiguous array. The uncut source is cut already, somehow; a run of ours is a range of its bytes, which it
// serves in chunks that follow each other in C order, so a run is put together from whole or partial chunks of it.
class LinearCut final : public ArraySource {
 public:
  LinearCut(const ArraySource& whole, ArrayMeta meta)
      : ArraySource(std::move(meta)), whole_(whole), element_bytes_(static_cast<Index>(meta_.dtype.bytes)) {}

  ChunkRef locate(ChunkId id) const override {
    const Range range = range_of(grid_, id);
    const Range part = range_of(whole_.grid(), source_chunk_at(range.first));
    const ChunkRef ref = whole_.locate(source_chunk_at(range.first));
    if (std::holds_alternative<Absent>(ref)) return Absent{};
    const auto& stored = std::get<StoredAt>(ref);
    return StoredAt{stored.offset_bytes + static_cast<std::uint64_t>((range.first - part.first) * element_bytes_),
                    static_cast<std::uint64_t>(range.count * element_bytes_), 0};
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    std::vector<Range> ranges;
    std::vector<ChunkId> parts;
    for (const ChunkId id : ids) {
      const Range range = range_of(grid_, id);
      ranges.push_back(range);
      if (range.count == 0) continue;
      const Index last = linear(source_chunk_at(range.first + range.count - 1));
      for (Index part = linear(source_chunk_at(range.first)); part <= last; ++part) parts.push_back(ChunkId{part});
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    ReadBatch source;
    whole_.read(parts, source);
    for (const Range& range : ranges) batch.chunks.push_back(take(range, parts, source, batch));
    for (Bytes& block : source.blocks) batch.blocks.push_back(std::move(block));
  }

 private:
  struct Range {
    Index first = 0;  // element, in C order over the array
    Index count = 0;
  };

  // First element and length of the run that a chunk covers.
  static Range range_of(const ChunkGrid& grid, ChunkId id) {
    const Box box = grid.box(id);
    Range range{0, 1};
    for (int axis = 0; axis < box.shape.rank(); ++axis) {
      range.first = range.first * grid.array()[axis] + box.origin[axis];
      range.count *= box.shape[axis];
    }
    return range;
  }

  ChunkId source_chunk_at(Index element) const {
    const ChunkGrid& grid = whole_.grid();
    Shape coords = Shape::filled(grid.array().rank(), 0);
    for (int axis = grid.array().rank() - 1; axis >= 0; --axis) {
      coords[axis] = element % grid.array()[axis] / grid.chunk()[axis];
      element /= grid.array()[axis];
    }
    return grid.id(coords);
  }

  EncodedChunk take(const Range& range, const std::vector<ChunkId>& parts, const ReadBatch& source,
                    ReadBatch& batch) const {
    if (range.count == 0) return {};
    const ChunkId first = source_chunk_at(range.first);
    const ChunkId last = source_chunk_at(range.first + range.count - 1);
    const auto at = [&](ChunkId id) -> const EncodedChunk& {
      const auto found = std::lower_bound(parts.begin(), parts.end(), id);
      return source.chunks[static_cast<std::size_t>(found - parts.begin())];
    };
    const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements * element_bytes_); };
    if (first == last) {
      const EncodedChunk& chunk = at(first);
      if (chunk.absent) return {{}, 0, true};
      check_length(chunk, first);
      const Range part = range_of(whole_.grid(), first);
      return {chunk.bytes.subspan(bytes(range.first - part.first), bytes(range.count)), 0, false};
    }
    // A run of bytes is allocated as a whole, or not at all.
    bool adjacent = true;
    for (Index id = linear(first); id <= linear(last); ++id) {
      const EncodedChunk& chunk = at(ChunkId{id});
      if (chunk.absent) return {{}, 0, true};
      check_length(chunk, ChunkId{id});
      adjacent = adjacent &&
                 (id == linear(last) || chunk.bytes.data() + chunk.bytes.size() == at(ChunkId{id + 1}).bytes.data());
    }
    // Sources merge neighbours into one request, so the run mostly lies in one piece already.
    if (adjacent) {
      const Range part = range_of(whole_.grid(), first);
      return {{at(first).bytes.data() + bytes(range.first - part.first), bytes(range.count)}, 0, false};
    }
    Bytes joined(bytes(range.count));
    for (Index id = linear(first); id <= linear(last); ++id) {
      const Range part = range_of(whole_.grid(), ChunkId{id});
      const Index begin = std::max(part.first, range.first);
      const Index end = std::min(part.first + part.count, range.first + range.count);
      std::copy_n(at(ChunkId{id}).bytes.data() + bytes(begin - part.first), bytes(end - begin),
                  joined.data() + bytes(begin - range.first));
    }
    batch.blocks.push_back(std::move(joined));
    return {batch.blocks.back().view(), 0, false};
  }

  void check_length(const EncodedChunk& chunk, ChunkId id) const {
    const auto expected = static_cast<std::size_t>(range_of(whole_.grid(), id).count * element_bytes_);
    if (chunk.bytes.size() != expected) {
      throw Error(Code::corrupt, fmt::format("{} bytes of data where {} are due", chunk.bytes.size(), expected))
          .in(fmt::format("part {} of {}", linear(id), meta_.path));
    }
  }

  const ArraySource& whole_;
  const Index element_bytes_;
};

// True if every chunk is a run: ones, then one free length, then full axes.
bool is_run(const Shape& array, const Shape& chunk) {
  int axis = 0;
  while (axis < array.rank() && chunk[axis] == 1) ++axis;
  for (++axis; axis < array.rank(); ++axis) {
    if (chunk[axis] < array[axis]) return false;
  }
  return true;
}

}  // namespace

std::uint64_t most_bytes(const ChunkRef& chunk) {
  if (const auto* stored = std::get_if<StoredAt>(&chunk)) return stored->length_bytes;
  const auto* unlocated = std::get_if<Unlocated>(&chunk);
  return unlocated != nullptr ? unlocated->max_bytes : 0;
}

std::unique_ptr<ArraySource> cut_linear(const ArraySource& contiguous, const Shape& chunk) {
  ArrayMeta meta = contiguous.meta();
  CHUNKWISE_CHECK(meta.storage != Storage::chunked && meta.codecs.empty() && !meta.pads_edges);
  CHUNKWISE_CHECK(chunk.rank() == meta.shape.rank());
  CHUNKWISE_CHECK(is_run(meta.shape, chunk) && is_run(meta.shape, meta.chunk));
  meta.chunk = chunk;
  if (auto exact = contiguous.in_runs(chunk)) return exact;
  return std::make_unique<LinearCut>(contiguous, std::move(meta));
}

}  // namespace chunkwise
