#include "array/object_chunks.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "array/sampled_chunks.h"
#include "array/shard_sink.h"
#include "array/shard_source.h"
#include "base/error.h"
#include "base/suggest.h"
#include "codec/chain.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

class ObjectSource final : public ArraySource {
 public:
  ObjectSource(std::shared_ptr<const Store> store, ArrayMeta meta, ObjectChunks chunks)
      : ArraySource(std::move(meta)), store_(std::move(store)), chunks_(std::move(chunks)) {
    max_stored_bytes_ = most_stored_bytes(meta_);
  }

  ChunkRef locate(ChunkId id) const override {
    if (looks_when_reading()) return Unlocated{max_stored_bytes_};
    const std::string key = key_of(id);
    try {
      const StoredChunks::Size size = size_of(id, key);
      if (size.is_absent) return Absent{};
      check_size(id, size.bytes);
      return StoredAt{0, size.bytes, 0};
    } catch (Error& error) {
      throw error.in(place(id, key));
    }
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    Bytes block;
    if (!batch.blocks.empty()) block = std::move(batch.blocks.front());
    batch.blocks.clear();
    std::vector<ChunkRef> places;
    places.reserve(ids.size());
    std::size_t total_bytes = 0;
    for (const ChunkId id : ids) {
      places.push_back(locate(id));
      total_bytes += most_bytes(places.back());
    }
    block.resize_discard(total_bytes);
    MutableByteView free = block.span();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      batch.chunks.push_back(std::holds_alternative<Absent>(places[i]) ? EncodedChunk{{}, 0, true}
                                                                       : read_chunk(ids[i], places[i], free));
      free = free.subspan(batch.chunks.back().bytes.size());
    }
    batch.blocks.push_back(std::move(block));
  }

 private:
  /// A chunk whose size nobody can bound needs to be asked for before it is read.
  bool looks_when_reading() const {
    return chunks_.late && !chunks_.late->if_made() && max_stored_bytes_ != std::numeric_limits<std::size_t>::max();
  }

  EncodedChunk read_chunk(ChunkId id, const ChunkRef& ref, MutableByteView to) const {
    const std::string key = key_of(id);
    try {
      const auto* stored = std::get_if<StoredAt>(&ref);
      const std::unique_ptr<Object> object = store_->open(key);
      if (stored == nullptr && !object && size_of(id, key).is_absent) return {{}, 0, true};
      if (!object || (stored != nullptr && object->size_bytes() != stored->length_bytes)) changed(object.get(), stored);
      check_size(id, object->size_bytes());
      const MutableByteView bytes = to.first(static_cast<std::size_t>(object->size_bytes()));
      object->read(0, bytes);
      return {bytes, 0, false};
    } catch (Error& error) {
      throw error.in(place(id, key));
    }
  }

  void check_size(ChunkId id, std::uint64_t size_bytes) const {
    if (size_bytes > max_stored_bytes_) {
      throw Error(Code::corrupt,
                  fmt::format("the stored chunk has {} bytes where at most {} are due", size_bytes, max_stored_bytes_));
    }
    // Most codecs tell by themselves that something is missing; without codecs, only the size does.
    if (size_bytes == 0 || (meta_.unsupported.empty() && meta_.codecs.empty() && !meta_.dtype.is_varying() &&
                            size_bytes < decoded_bytes(id))) {
      throw Error(Code::corrupt,
                  fmt::format("the stored chunk has {} bytes where {} are due", size_bytes, decoded_bytes(id)),
                  "the chunk is cut off; copy it again from its source");
    }
  }

  StoredChunks::Size size_of(ChunkId id, const std::string& key) const {
    const StoredChunks* const listed = chunks_.late ? &chunks_.late->get() : chunks_.stored.get();
    if (listed != nullptr) {
      if (const auto known = listed->size_of(id)) return *known;
    }
    const auto size = store_->size_bytes(key);
    return size ? StoredChunks::Size{false, *size} : StoredChunks::Size{true, 0};
  }

  [[noreturn]] static void changed(const Object* now, const StoredAt* before) {
    throw Error(Code::corrupt,
                fmt::format("the stored chunk {}, {} there before",
                            now != nullptr ? fmt::format("has {} bytes", now->size_bytes()) : "is gone",
                            before != nullptr ? fmt::format("{} bytes were", before->length_bytes) : "it was"),
                "something changes the dataset; wait until it is done");
  }

  std::uint64_t decoded_bytes(ChunkId id) const {
    const Box box = meta_.pads_edges ? grid_.full_box(id) : grid_.box(id);
    return static_cast<std::uint64_t>(product(box.shape)) * meta_.dtype.bytes;
  }

  std::string key_of(ChunkId id) const { return chunks_.keys.key(grid_.coords(id)); }
  std::string place(ChunkId id, const std::string& key) const {
    return fmt::format("chunk {} of {} (key {})", linear(id), meta_.path, key);
  }

  std::shared_ptr<const Store> store_;
  ObjectChunks chunks_;
  std::size_t max_stored_bytes_ = std::numeric_limits<std::size_t>::max();
};

class ObjectSink final : public ArraySink {
 public:
  ObjectSink(std::shared_ptr<Store> store, ArrayMeta meta, ChunkKeys keys)
      : ArraySink(std::move(meta)), store_(std::move(store)), keys_(std::move(keys)) {}

  void write(ChunkId id, const EncodedChunk& chunk) override {
    if (chunk.absent) return;
    CHUNKWISE_CHECK(chunk.skipped_codecs == 0);
    const std::string key = keys_.key(grid_.coords(id));
    try {
      store_->write(key, chunk.bytes);
    } catch (Error& error) {
      throw error.in(fmt::format("chunk {} of {} (key {})", linear(id), meta_.path, key));
    }
  }

 private:
  std::shared_ptr<Store> store_;
  ChunkKeys keys_;
};

template <typename Value>
[[noreturn]] void no_such_array(const std::string& path, const std::map<std::string, Value>& arrays) {
  std::vector<std::string> known;
  for (const auto& [name, unused] : arrays) known.push_back(name);
  throw Error(Code::not_found, fmt::format("no array {}", path), suggest(path, known));
}

void take_count(const StoredChunks& listed, ArrayMeta& meta) {
  meta.stored_bytes = listed.bytes();
  meta.n_stored_chunks = listed.count();
  meta.count_is_estimate = false;
}

class ObjectReader final : public Reader {
 public:
  ObjectReader(std::shared_ptr<Store> store, Hierarchy tree, std::map<std::string, ObjectChunks> chunks)
      : store_(std::move(store)), tree_(std::move(tree)), chunks_(std::move(chunks)) {
    for (const ArrayNode& node : tree_.arrays) nodes_.emplace(node.meta.path, &node);
  }

  const Hierarchy& tree() const override { return tree_; }

  void count_exactly() override {
    for (ArrayNode& node : tree_.arrays) {
      if (!node.meta.count_is_estimate) continue;
      const ObjectChunks& chunks = chunks_.at(node.meta.path);
      if (chunks.late) {
        take_count(chunks.late->get(), node.meta);
        continue;
      }
      const ShardSource source(store_, node.meta, chunks);
      const ShardSource::Count count = source.count(true);
      node.meta.n_stored_chunks = count.n_chunks;
      node.meta.count_is_estimate = count.is_estimate;
    }
  }

  void take_counts() override {
    for (ArrayNode& node : tree_.arrays) {
      const auto chunks = chunks_.find(node.meta.path);
      if (chunks == chunks_.end() || !chunks->second.late) continue;
      if (const StoredChunks* const made = chunks->second.late->if_made()) take_count(*made, node.meta);
    }
  }

  std::unique_ptr<ArraySource> open_array(const std::string& path) const override {
    const auto node = tree_.nameless ? nodes_.begin() : nodes_.find(path);
    if (node == nodes_.end()) no_such_array(path, chunks_);
    const ArrayMeta& meta = node->second->meta;
    const ObjectChunks& chunks = chunks_.at(node->first);
    if (!meta.shards.empty()) return std::make_unique<ShardSource>(store_, meta, chunks);
    return std::make_unique<ObjectSource>(store_, meta, chunks);
  }

 private:
  std::shared_ptr<Store> store_;
  Hierarchy tree_;
  std::map<std::string, const ArrayNode*> nodes_;
  std::map<std::string, ObjectChunks> chunks_;
};

class ObjectWriter final : public Writer {
 public:
  ObjectWriter(std::shared_ptr<Store> store, const Hierarchy& tree, std::map<std::string, ChunkKeys> keys,
               std::vector<HeldObject> held, const EarlierWork* earlier)
      : store_(std::move(store)), keys_(std::move(keys)), held_(std::move(held)) {
    for (std::size_t i = 0; i < tree.arrays.size(); ++i) {
      const ArrayMeta& meta = tree.arrays[i].meta;
      Target& target = targets_.emplace(meta.path, Target{meta, i, {}}).first->second;
      if (earlier != nullptr && !meta.shards.empty())
        target.begun = ShardSink::unfinished(*store_, meta, keys_.at(meta.path), i, *earlier);
    }
  }

  std::unique_ptr<ArraySink> open_array(const std::string& path) override {
    const auto found = targets_.find(path);
    if (found == targets_.end()) no_such_array(path, keys_);
    Target& target = found->second;
    if (target.meta.shards.empty()) return std::make_unique<ObjectSink>(store_, target.meta, keys_.at(path));
    return std::make_unique<ShardSink>(store_, target.meta, keys_.at(path), target.number, notes_,
                                       std::exchange(target.begun, {}));
  }

  std::optional<std::string> checkpoint() override {
    if (dynamic_cast<const Archive*>(store_.get()) != nullptr) return std::nullopt;
    // A chunk is found by its name, unless it lies in a shard without an index yet.
    std::string places = notes_->take();
    store_->sync();
    return places;
  }

  void finish() override {
    for (const auto& [key, content] : held_) store_->write(key, as_bytes(content));
    if (auto* const archive = dynamic_cast<Archive*>(store_.get())) return archive->finish();
    store_->sync();
  }

 private:
  struct Target {
    ArrayMeta meta;
    std::size_t number = 0;
    std::map<Index, PartialShard> begun;
  };

  std::shared_ptr<Store> store_;
  std::map<std::string, Target> targets_;
  std::map<std::string, ChunkKeys> keys_;
  std::vector<HeldObject> held_;
  std::shared_ptr<ShardNotes> notes_ = std::make_shared<ShardNotes>();
};

}  // namespace

std::unique_ptr<Reader> make_object_reader(std::shared_ptr<Store> store, Hierarchy tree,
                                           std::map<std::string, ObjectChunks> chunks) {
  return std::make_unique<ObjectReader>(std::move(store), std::move(tree), std::move(chunks));
}

std::unique_ptr<Writer> make_object_writer(std::shared_ptr<Store> store, const Hierarchy& tree,
                                           std::map<std::string, ChunkKeys> keys, std::vector<HeldObject> held,
                                           const EarlierWork* earlier) {
  return std::make_unique<ObjectWriter>(std::move(store), tree, std::move(keys), std::move(held), earlier);
}

ObjectChunks find_chunks(const std::shared_ptr<const Store>& store, const ChunkKeys& keys, ArrayMeta& meta) {
  ObjectChunks chunks{keys, nullptr, nullptr};
  chunks.stored = std::make_shared<const StoredChunks>(list_chunks(*store, keys, ChunkGrid(meta.shape, meta.unit())));
  take_count(*chunks.stored, meta);
  if (!meta.shards.empty() && meta.unsupported.empty() && meta.n_stored_chunks > 0) {
    const ShardSource source(store, meta, chunks);
    const ShardSource::Count count = source.count(false);
    meta.n_stored_chunks = count.n_chunks;
    meta.count_is_estimate = count.is_estimate;
  }
  return chunks;
}

std::optional<ObjectChunks> find_chunks_late(const std::shared_ptr<const Store>& store, const ChunkKeys& keys,
                                             ArrayMeta& meta) {
  if (!meta.shards.empty() || !is_worth_sampling(meta.grid())) return std::nullopt;
  ChunkSample sample;
  try {
    sample = sample_chunks(*store, keys, meta.grid());
  } catch (const Error&) {
    return std::nullopt;  // a listing tells what is wrong
  }
  if (sample.n_found < sample.n_looked_at) return std::nullopt;
  take_estimate(sample, meta);
  return ObjectChunks{keys, nullptr, std::make_shared<const LateListing>(store, keys, meta.grid())};
}

std::size_t most_stored_bytes(const ArrayMeta& meta) {
  // Of an array nobody can decode there is no telling how large a chunk may be; it can only be copied. Elements of any
  // length make chunks of any size, which whoever reads them must ask for first.
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  if (!meta.unsupported.empty() || meta.dtype.is_varying()) return kAny;
  try {
    return CodecChain(meta.codecs, meta.dtype.bytes).max_stored_bytes(meta.chunk_bytes());
  } catch (const Error& error) {
    if (error.code() != Code::unsupported) throw;
    return kAny;
  }
}

}  // namespace chunkwise
