#include "array/shard_sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace chunkwise {
namespace {

/// Objects open at a time, of one array.
constexpr std::size_t kMostObjects = 64;
/// Of an open shard besides its entries: its key, its place in the tables, its descriptor.
constexpr std::uint64_t kPerShard_bytes = 1024;

Shape divided(const Shape& a, const Shape& b) {
  Shape result = a;
  for (int axis = 0; axis < a.rank(); ++axis) result[axis] = a[axis] / b[axis];
  return result;
}

/// Chunks of the grid inside a shard, and where they are in its index.
class UnitView {
 public:
  UnitView(const ChunkGrid& chunks, const ChunkGrid& units) : chunks_(chunks), units_(units) {}

  ChunkId unit_of(ChunkId id) const { return units_.id(divided(chunks_.full_box(id).origin, units_.chunk())); }
  Index n_chunks_in(ChunkId unit) const { return product(chunks_.chunks_of(units_.box(unit)).shape); }
  std::size_t position(const ShardIndexForm& form, ChunkId id) const {
    Shape coords = chunks_.coords(id);
    for (int axis = 0; axis < coords.rank(); ++axis) coords[axis] %= form.counts()[axis];
    return form.position(coords);
  }

 private:
  const ChunkGrid& chunks_;
  const ChunkGrid& units_;
};

ShardIndexForm only_form(const ArrayMeta& meta) {
  CHUNKWISE_CHECK(meta.shards.size() == 1);
  return ShardIndexForm(meta.shards.front(), meta.chunk);
}

}  // namespace

// ---- notes

void ShardNotes::add(const Note& note) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(note);
}

std::string ShardNotes::take() {
  std::vector<Note> notes;
  {
    const std::lock_guard lock(mutex_);
    notes.swap(notes_);
  }
  Packer out;
  out.number(notes.size());
  for (const Note& note : notes) {
    out.number(note.array);
    out.number(static_cast<std::uint64_t>(linear(note.chunk)));
    out.number(note.place.offset_bytes);
    out.number(note.place.length_bytes);
  }
  return out.take();
}

void ShardNotes::for_each(ByteView packed, const std::function<void(const Note&)>& use) {
  if (packed.empty()) return;
  Unpacker in(packed);
  for (std::uint64_t n = in.number(); n > 0; --n) {
    Note note;
    note.array = static_cast<std::size_t>(in.number());
    note.chunk = ChunkId{static_cast<Index>(in.number())};
    note.place.offset_bytes = in.number();
    note.place.length_bytes = in.number();
    use(note);
  }
}

// ---- writing

ShardSink::ShardSink(std::shared_ptr<Store> store, ArrayMeta meta, ChunkKeys keys, std::size_t number,
                     std::shared_ptr<ShardNotes> notes, std::map<Index, PartialShard> earlier)
    : ArraySink(std::move(meta)),
      store_(std::move(store)),
      keys_(std::move(keys)),
      number_(number),
      notes_(std::move(notes)),
      form_(only_form(meta_)),
      units_(meta_.shape, meta_.unit()),
      earlier_(std::move(earlier)) {}

std::uint64_t ShardSink::open_bytes(const ArrayMeta& meta) {
  return static_cast<std::uint64_t>(product(divided(meta.unit(), meta.chunk))) * sizeof(ShardEntry) + kPerShard_bytes;
}

std::uint64_t ShardSink::finishing_bytes(const ArrayMeta& meta) {
  return 2 * only_form(meta).stored_bytes();
}

void ShardSink::write(ChunkId id, const EncodedChunk& chunk) {
  CHUNKWISE_CHECK(chunk.skipped_codecs == 0);
  const UnitView view(grid_, units_);
  const ChunkId unit = view.unit_of(id);
  try {
    const std::shared_ptr<OpenShard> shard = open_shard(unit);
    if (!chunk.absent) append(*shard, id, chunk.bytes);
    bool is_last = false;
    {
      const std::lock_guard lock(shard->mutex);
      CHUNKWISE_CHECK(shard->part.n_due > 0);
      is_last = --shard->part.n_due == 0;
    }
    if (is_last) finish(shard);
  } catch (Error& error) {
    throw error.in(fmt::format("chunk {} of {} (key {})", linear(id), meta_.path, keys_.key(units_.coords(unit))));
  }
}

std::shared_ptr<ShardSink::OpenShard> ShardSink::open_shard(ChunkId unit) {
  const std::lock_guard lock(shards_mutex_);
  std::shared_ptr<OpenShard>& shard = open_[linear(unit)];
  if (shard != nullptr) return shard;
  shard = std::make_shared<OpenShard>();
  shard->unit = unit;
  if (auto begun = earlier_.extract(linear(unit))) {
    shard->part = std::move(begun.mapped());
  } else {
    shard->part.n_due = UnitView(grid_, units_).n_chunks_in(unit);
    shard->part.end_bytes = form_.first_part();
  }
  return shard;
}

void ShardSink::append(OpenShard& shard, ChunkId id, ByteView bytes) {
  const std::shared_ptr<PieceWriter> pieces = pieces_of(shard);
  ShardEntry place;
  {
    const std::lock_guard lock(shard.mutex);
    place = {shard.part.end_bytes, bytes.size()};
    shard.part.end_bytes += bytes.size();
  }
  pieces->write(place.offset_bytes, bytes);
  {
    const std::lock_guard lock(shard.mutex);
    if (shard.part.entries.empty()) shard.part.entries.resize(form_.n_parts());
    shard.part.entries[UnitView(grid_, units_).position(form_, id)] = place;
  }
  notes_->add({number_, id, place});
}

/// The object of a shard. Of those not in use the oldest is closed when there are too many.
std::shared_ptr<PieceWriter> ShardSink::pieces_of(OpenShard& shard) {
  const std::lock_guard lock(pieces_mutex_);
  if (shard.pieces != nullptr) {
    with_objects_.splice(with_objects_.begin(), with_objects_, shard.place_in_line);
    return shard.pieces;
  }
  // What an earlier process wrote after its last checkpoint is not known to be whole, and is written again.
  const auto cut_bytes = shard.is_new ? std::optional(shard.part.end_bytes) : std::nullopt;
  shard.pieces = store_->open_pieces(keys_.key(units_.coords(shard.unit)), cut_bytes);
  shard.is_new = false;
  with_objects_.push_front(&shard);
  shard.place_in_line = with_objects_.begin();
  if (with_objects_.size() > kMostObjects) {
    with_objects_.back()->pieces.reset();
    with_objects_.pop_back();
  }
  return shard.pieces;
}

void ShardSink::finish(const std::shared_ptr<OpenShard>& shard) {
  if (!shard->part.entries.empty()) {
    const std::lock_guard lock(finishing_mutex_);
    const std::shared_ptr<PieceWriter> pieces = pieces_of(*shard);
    const bool at_start = meta_.shards.front().index_at_start;
    pieces->write(at_start ? 0 : shard->part.end_bytes, form_.encode(shard->part.entries, scratch_));
    pieces->close();
  }
  {
    const std::lock_guard lock(pieces_mutex_);
    if (shard->pieces != nullptr) with_objects_.erase(shard->place_in_line);
  }
  const std::lock_guard lock(shards_mutex_);
  open_.erase(linear(shard->unit));
}

// ---- going on

std::map<Index, PartialShard> ShardSink::unfinished(const Store& store, const ArrayMeta& meta, const ChunkKeys& keys,
                                                    std::size_t number, const EarlierWork& earlier) {
  const ShardIndexForm form = only_form(meta);
  const ChunkGrid chunks = meta.grid();
  const ChunkGrid units(meta.shape, meta.unit());
  const UnitView view(chunks, units);
  std::map<Index, PartialShard> partial;
  for (Index i = 0; i < units.n_chunks(); ++i) {
    const std::vector<ChunkId> ids = chunks.overlapping(units.box(ChunkId{i}));
    const auto n_due = std::count_if(ids.begin(), ids.end(), [&](ChunkId id) { return !earlier.was_done(number, id); });
    if (n_due > 0 && n_due < std::ssize(ids)) partial[i] = {{}, n_due, form.first_part()};
  }
  if (partial.empty()) return partial;
  earlier.for_each_state([&](ByteView state) {
    ShardNotes::for_each(state, [&](const ShardNotes::Note& note) {
      if (note.array != number) return;
      if (linear(note.chunk) < 0 || linear(note.chunk) >= chunks.n_chunks())
        throw Error(Code::corrupt, fmt::format("{} has no chunk {}", meta.path, linear(note.chunk)));
      // A chunk that was put somewhere, but not done, is written again.
      if (!earlier.was_done(number, note.chunk)) return;
      const auto found = partial.find(linear(view.unit_of(note.chunk)));
      if (found == partial.end()) return;
      PartialShard& shard = found->second;
      if (shard.entries.empty()) shard.entries.resize(form.n_parts());
      shard.entries[view.position(form, note.chunk)] = note.place;  // the last one holds
      shard.end_bytes = std::max(shard.end_bytes, note.place.offset_bytes + note.place.length_bytes);
    });
  });
  for (const auto& [unit, shard] : partial) {
    if (shard.entries.empty()) continue;
    const std::string key = keys.key(units.coords(ChunkId{unit}));
    const auto size = store.size_bytes(key);
    if (!size || *size < shard.end_bytes) {
      throw Error(Code::unsupported,
                  fmt::format("the shard {} of {} has {} bytes, not {} as before", key, meta.path, size.value_or(0),
                              shard.end_bytes),
                  "the unfinished target cannot be continued: remove it, and begin anew");
    }
  }
  return partial;
}

}  // namespace chunkwise
