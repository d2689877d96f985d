#include "array/shard_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace chunkwise {
namespace {

/// Indexes that are worth keeping, beyond the ones that must be.
constexpr std::uint64_t kUsefulIndexes_bytes = std::uint64_t{8} << 20;
/// Of an index in the tables.
constexpr std::uint64_t kPerIndex_bytes = 256;
/// So many shards are opened to learn how many chunks such shards have.
constexpr Index kLookedInto = 128;

struct IndexSizes {
  std::uint64_t path_bytes = 0;  // the indexes on the way to one chunk
  std::uint64_t largest_bytes = 0;
  std::uint64_t all_bytes = 0;
};

IndexSizes index_sizes(const ArrayMeta& meta, const std::vector<ShardIndexForm>& forms) {
  IndexSizes sizes;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const std::uint64_t bytes = forms[i].entries_bytes() + kPerIndex_bytes;
    const auto n_shards = static_cast<double>(ChunkGrid(meta.shape, meta.shards[i].shape).n_chunks());
    sizes.path_bytes += bytes;
    sizes.largest_bytes = std::max(sizes.largest_bytes, bytes);
    const double all = static_cast<double>(bytes) * n_shards;
    sizes.all_bytes += all < 1e15 ? static_cast<std::uint64_t>(all) : std::uint64_t{1} << 50;
  }
  return sizes;
}

std::uint64_t most_known_bytes(const IndexSizes& sizes) {
  return std::max(sizes.path_bytes, std::min(sizes.all_bytes, kUsefulIndexes_bytes));
}

[[noreturn]] void throw_changed() {
  throw Error(Code::corrupt, "the shard is not what it was when the dataset was opened",
              "something changes the dataset; wait until it is done");
}

Shape divided(const Shape& a, const Shape& b) {
  Shape result = a;
  for (int axis = 0; axis < a.rank(); ++axis) result[axis] = a[axis] / b[axis];
  return result;
}

}  // namespace

ShardSource::ShardSource(std::shared_ptr<const Store> store, ArrayMeta meta, ObjectChunks chunks)
    : ArraySource(std::move(meta)), store_(std::move(store)), chunks_(std::move(chunks)) {
  std::vector<ShardIndexForm> forms = shard_index_forms(meta_);
  most_known_bytes_ = most_known_bytes(index_sizes(meta_, forms));
  for (std::size_t i = 0; i < forms.size(); ++i) {
    levels_.push_back({std::move(forms[i]), ChunkGrid(meta_.shape, meta_.shards[i].shape),
                       i + 1 < forms.size() ? meta_.shards[i + 1].shape : meta_.chunk});
  }
  max_stored_bytes_ = most_stored_bytes(meta_);
}

std::uint64_t ShardSource::most_index_bytes(const ArrayMeta& meta) {
  if (meta.shards.empty()) return 0;
  const IndexSizes sizes = index_sizes(meta, shard_index_forms(meta));
  // While one is loaded it is there as stored, as decoded, and as entries.
  return most_known_bytes(sizes) + 3 * sizes.largest_bytes;
}

ChunkRef ShardSource::locate(ChunkId id) const {
  const std::lock_guard lock(mutex_);
  const auto range = find(id);
  if (!range) return Absent{};
  return StoredAt{range->address, range->size_bytes, 0, static_cast<std::uint64_t>(linear(unit_of(id)))};
}

void ShardSource::read(std::span<const ChunkId> ids, ReadBatch& batch) const {
  struct Wanted {
    ChunkId unit;
    ByteRange range;
  };
  batch.chunks.assign(ids.size(), EncodedChunk{{}, 0, true});
  batch.blocks.resize(1);  // the block of the last batch serves again
  std::vector<Wanted> wanted;
  wanted.reserve(ids.size());
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto range = find(ids[i]);
      if (!range) continue;
      range->slot = i;
      wanted.push_back({unit_of(ids[i]), *range});
    }
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.unit < b.unit; });

  struct Part {
    ChunkId unit;
    std::vector<ByteRange> ranges;
    std::optional<Gather> requests;
  };
  std::vector<Part> parts;
  std::uint64_t all_bytes = 0;
  for (std::size_t i = 0; i < wanted.size();) {
    Part& part = parts.emplace_back(Part{wanted[i].unit, {}, {}});
    for (; i < wanted.size() && wanted[i].unit == part.unit; ++i) part.ranges.push_back(wanted[i].range);
    part.requests.emplace(part.ranges);
    all_bytes += part.requests->size_bytes();
  }
  batch.blocks.front().resize_discard(static_cast<std::size_t>(all_bytes));
  MutableByteView rest = batch.blocks.front().span();
  for (const Part& part : parts) {
    const std::string key = chunks_.keys.key(units().coords(part.unit));
    try {
      const std::unique_ptr<Object> object = store_->open(key);
      if (object == nullptr) throw_changed();
      const auto size_bytes = static_cast<std::size_t>(part.requests->size_bytes());
      const std::vector<ByteView> views = part.requests->read(*object, rest.first(size_bytes));
      rest = rest.subspan(size_bytes);
      for (std::size_t i = 0; i < views.size(); ++i) batch.chunks[part.ranges[i].slot] = {views[i], 0, false};
    } catch (Error& error) {
      throw error.in(place(ids[part.ranges.front().slot]));
    }
  }
}

std::optional<StoredChunks::Size> ShardSource::listed_size(ChunkId unit) const {
  return chunks_.stored ? chunks_.stored->size_of(unit) : std::nullopt;
}

ShardSource::Count ShardSource::count(bool exactly) const {
  const Index n_objects = chunks_.stored->count();
  const bool all_of_them = exactly || n_objects <= kLookedInto;
  const Index step = all_of_them ? 1 : n_objects / kLookedInto;
  const bool has_table = listed_size(ChunkId{0}).has_value();
  Index n_seen = 0;
  Index n_looked_into = 0;
  Index n_chunks = 0;
  for (Index i = 0; has_table && i < units().n_chunks() && (all_of_them || n_looked_into < kLookedInto); ++i) {
    const auto size = listed_size(ChunkId{i});
    if ((size && size->is_absent) || n_seen++ % step != 0) continue;
    n_chunks += n_stored(ChunkId{i});
    ++n_looked_into;
  }
  if (has_table && all_of_them) return {n_chunks, false};
  const double in_one = n_looked_into > 0 ? static_cast<double>(n_chunks) / static_cast<double>(n_looked_into)
                                          : static_cast<double>(grid_.n_chunks() / units().n_chunks());
  const double all = in_one * static_cast<double>(n_objects);
  return {static_cast<Index>(std::clamp(all, 1.0, static_cast<double>(grid_.n_chunks() - 1))), true};
}

Index ShardSource::n_stored(ChunkId unit) const {
  const std::lock_guard lock(mutex_);
  Index n = 0;
  for (const ChunkId id : grid_.overlapping(units().box(unit))) n += find(id) ? 1 : 0;
  return n;
}

std::optional<ByteRange> ShardSource::find(ChunkId id) const {
  try {
    const auto range = find_part(levels_.size() - 1, grid_.full_box(id).origin);
    if (range && range->size_bytes > max_stored_bytes_) {
      throw Error(Code::corrupt, fmt::format("the stored chunk has {} bytes where at most {} are due",
                                             range->size_bytes, max_stored_bytes_));
    }
    return range;
  } catch (Error& error) {
    throw error.in(place(id));
  }
}

/// Where the part of a level's shard lies in its object that begins at this element.
std::optional<ByteRange> ShardSource::find_part(std::size_t level_number, const Shape& origin) const {
  const Level& level = levels_[level_number];
  const IndexPtr index = index_of(level_number, origin);
  if (!index->exists) return std::nullopt;
  Shape coords = divided(origin, level.part);
  for (int axis = 0; axis < coords.rank(); ++axis) coords[axis] %= level.form.counts()[axis];
  const ShardEntry& entry = index->entries[level.form.position(coords)];
  if (entry.absent()) return std::nullopt;
  return ByteRange{index->offset_bytes + entry.offset_bytes, entry.length_bytes, 0};
}

ShardSource::IndexPtr ShardSource::index_of(std::size_t level, const Shape& origin) const {
  const ChunkGrid& grid = levels_[level].grid;
  const IndexKey key{level, linear(grid.id(divided(origin, grid.chunk())))};
  if (const auto found = known_.find(key); found != known_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  IndexPtr index = load(level, origin);
  const auto cost = [](const IndexPtr& some) { return kPerIndex_bytes + some->entries.size() * sizeof(ShardEntry); };
  known_bytes_ += cost(index);
  while (known_bytes_ > most_known_bytes_ && !recent_.empty()) {
    known_bytes_ -= cost(recent_.back().second);
    known_.erase(recent_.back().first);
    recent_.pop_back();
  }
  recent_.emplace_front(key, index);
  known_[key] = recent_.begin();
  return index;
}

ShardSource::IndexPtr ShardSource::load(std::size_t level_number, const Shape& origin) const {
  const Level& level = levels_[level_number];
  auto index = std::make_shared<ShardIndex>();
  std::optional<ByteRange> range;
  if (level_number > 0) {
    range = find_part(level_number - 1, origin);
    if (!range) return index;
  }
  const Shape unit = divided(origin, units().chunk());
  const auto listed = listed_size(units().id(unit));
  if (listed && listed->is_absent) return index;
  const std::unique_ptr<Object> object = store_->open(chunks_.keys.key(unit));
  if (object == nullptr && !listed && level_number == 0) return index;
  if (object == nullptr || (listed && object->size_bytes() != listed->bytes)) throw_changed();
  index->exists = true;
  index->offset_bytes = range ? range->address : 0;
  index->size_bytes = range ? range->size_bytes : object->size_bytes();
  const std::uint64_t at = index->offset_bytes + level.form.place(index->size_bytes);
  stored_index_.resize_discard(static_cast<std::size_t>(level.form.stored_bytes()));
  object->read(at, stored_index_.span());
  try {
    index->entries = level.form.decode(stored_index_, scratch_);
    // All of them: a shard that lost bytes shows it somewhere.
    for (const ShardEntry& entry : index->entries) level.form.check(entry, index->size_bytes);
  } catch (Error& error) {
    throw error.in("the index of the shard");
  }
  return index;
}

ChunkId ShardSource::unit_of(ChunkId id) const {
  return units().id(divided(grid_.full_box(id).origin, units().chunk()));
}

std::string ShardSource::place(ChunkId id) const {
  return fmt::format("chunk {} of {} (key {})", linear(id), meta_.path, chunks_.keys.key(units().coords(unit_of(id))));
}

}  // namespace chunkwise
