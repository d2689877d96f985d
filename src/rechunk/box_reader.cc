#include "rechunk/box_reader.h"

#include <utility>

#include "base/for_each_index.h"

namespace chunkwise {

BoxReader::BoxReader(const ArraySource& source, const ArrayMeta& shown, std::uint64_t batch_bytes, int n_threads)
    : source_(source),
      order_(shown.layout.byte_order),
      element_(shown.dtype.element()),
      change_(source.meta(), shown),
      batch_bytes_(batch_bytes),
      chain_(source.meta().codecs, source.meta().dtype.bytes),
      fill_(fill_as(source.meta(), shown)),
      scratch_(static_cast<std::size_t>(n_threads)) {}

void BoxReader::read(const Box& box, Bytes& elements) {
  const ArrayMeta& meta = source_.meta();
  elements.resize_discard(static_cast<std::size_t>(product(box.shape)) * meta.dtype.bytes);
  const Box covered = intersect(box, whole(source_.grid().array()));
  const std::vector<ChunkId> ids = source_.grid().overlapping(covered);
  std::vector<std::pair<ChunkId, std::uint64_t>> stored;
  bool needs_fill = covered != box;
  for (ChunkId id : ids) {
    const ChunkRef ref = source_.locate(id);
    if (!std::holds_alternative<StoredAt>(ref)) needs_fill = true;
    if (!std::holds_alternative<Absent>(ref)) stored.emplace_back(id, most_bytes(ref));
  }
  if (needs_fill) fill_elements(elements.span(), fill_);
  std::vector<ChunkId> some;
  for (std::size_t next = 0; next < stored.size();) {
    some.clear();
    for (std::uint64_t bytes = 0; next < stored.size(); ++next) {
      bytes += stored[next].second;
      if (!some.empty() && bytes > batch_bytes_) break;
      some.push_back(stored[next].first);
    }
    ReadBatch batch;
    source_.read(some, batch);
    for_each_index(static_cast<int>(scratch_.size()), some.size(), [&](std::size_t i, std::size_t thread) {
      if (batch.chunks[i].absent) return;
      const ChunkGrid& grid = source_.grid();
      const Box stored_box = meta.pads_edges ? grid.full_box(some[i]) : grid.box(some[i]);
      const std::size_t bytes = static_cast<std::size_t>(product(stored_box.shape)) * meta.dtype.bytes;
      ByteView decoded = chain_.decode(batch.chunks[i].bytes, bytes, batch.chunks[i].skipped_codecs, scratch_[thread]);
      Bytes changed;
      if (!change_.empty()) {
        changed = Bytes::copy_of(decoded);
        change_.apply(changed.span());
        decoded = changed.view();
      }
      BoxCopy copy;
      copy.src_box = stored_box;
      copy.src_layout = meta.layout;
      copy.dst_box = box;
      copy.dst_layout.byte_order = order_;
      copy.part = intersect(grid.box(some[i]), box);
      copy.element = element_;
      copy_box(copy, decoded.data(), elements.data());
    });
  }
}

}  // namespace chunkwise
