#include "array/object_chunks.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/suggest.h"
#include "codec/chain.h"

namespace chunkwise {
namespace {

// "0", "17", but not "", "007" or "-1"; below `count`.
std::optional<Index> parse_index(std::string_view text, Index count) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool canonical = !text.empty() && text.front() != '-' && (text.size() == 1 || text.front() != '0');
  if (error != std::errc{} || end != text.data() + text.size() || !canonical || value >= count) return std::nullopt;
  return value;
}

// True if `name` is one index for each axis, separated by dots.
bool is_dotted_index(std::string_view name, const Shape& counts) {
  for (int axis = 0; axis < counts.rank(); ++axis) {
    const auto dot = axis + 1 < counts.rank() ? name.find('.') : name.size();
    if (dot == std::string_view::npos || !parse_index(name.substr(0, dot), counts[axis])) return false;
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return true;
}

std::vector<Store::Entry> list_children(const Store& store, std::string_view prefix) {
  if (!prefix.empty()) prefix.remove_suffix(1);
  return store.list(prefix);
}

class Counter {
 public:
  Counter(const Store& store, const Shape& counts) : store_(store), counts_(counts) {}

  // A chunk that is a directory is no chunk that was never written.
  void add(const std::string& prefix, const Store::Entry& entry) {
    if (entry.is_prefix) throw Error(Code::corrupt, "a directory stands where a chunk is due").in(prefix + entry.name);
    add(prefix + entry.name);
  }

  void add(const std::string& key) {
    if (const auto size = store_.size_bytes(key)) {
      ++found_.count;
      found_.bytes += *size;
    }
  }

  void dotted(const std::string& prefix, std::string_view mark) {
    for (const Store::Entry& entry : list_children(store_, prefix)) {
      const std::string_view name = entry.name;
      if (name.substr(0, mark.size()) != mark) continue;
      if (is_dotted_index(name.substr(mark.size()), counts_)) add(prefix, entry);
    }
  }

  void nested(const std::string& prefix, int axis) {
    const bool last = axis + 1 == counts_.rank();
    for (const Store::Entry& entry : list_children(store_, prefix)) {
      if (!parse_index(entry.name, counts_[axis])) continue;
      if (last) {
        add(prefix, entry);
      } else if (entry.is_prefix) {
        nested(prefix + entry.name + "/", axis + 1);
      }
    }
  }

  const StoredChunks& found() const { return found_; }

 private:
  const Store& store_;
  const Shape& counts_;
  StoredChunks found_;
};

class ObjectSource final : public ArraySource {
 public:
  ObjectSource(std::shared_ptr<const Store> store, ArrayMeta meta, ChunkKeys keys)
      : ArraySource(std::move(meta)), store_(std::move(store)), keys_(std::move(keys)) {
    // Of an array nobody can decode there is no telling how large a chunk may be; nobody will read it either.
    max_stored_bytes_ = meta_.unsupported.empty()
                            ? CodecChain(meta_.codecs, meta_.dtype.bytes).max_stored_bytes(meta_.chunk_bytes())
                            : std::numeric_limits<std::size_t>::max();
  }

  ChunkRef locate(ChunkId id) const override {
    const std::string key = keys_.key(grid_.coords(id));
    try {
      const auto size = store_->size_bytes(key);
      if (!size) return Absent{};
      if (*size > max_stored_bytes_) {
        throw Error(Code::corrupt,
                    fmt::format("the stored chunk has {} bytes where at most {} are due", *size, max_stored_bytes_));
      }
      return StoredAt{0, *size, 0};
    } catch (Error& error) {
      throw error.in(place(id, key));
    }
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    for (const ChunkId id : ids) {
      const std::string key = keys_.key(grid_.coords(id));
      try {
        auto bytes = store_->read(key, max_stored_bytes_);
        if (!bytes) {
          batch.chunks.push_back({{}, 0, true});
          continue;
        }
        batch.chunks.push_back({bytes->view(), 0, false});
        batch.blocks.push_back(std::move(*bytes));
      } catch (Error& error) {
        throw error.in(place(id, key));
      }
    }
  }

 private:
  std::string place(ChunkId id, const std::string& key) const {
    return fmt::format("chunk {} of {} (key {})", linear(id), meta_.path, key);
  }

  std::shared_ptr<const Store> store_;
  ChunkKeys keys_;
  std::size_t max_stored_bytes_ = 0;
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

[[noreturn]] void no_such_array(const std::string& path, const std::map<std::string, ChunkKeys>& keys) {
  std::vector<std::string> known;
  for (const auto& [name, unused] : keys) known.push_back(name);
  throw Error(Code::not_found, fmt::format("no array {}", path), suggest(path, known));
}

class ObjectReader final : public Reader {
 public:
  ObjectReader(std::shared_ptr<Store> store, Hierarchy tree, std::map<std::string, ChunkKeys> keys)
      : store_(std::move(store)), tree_(std::move(tree)), keys_(std::move(keys)) {
    for (const ArrayNode& node : tree_.arrays) nodes_.emplace(node.meta.path, &node);
  }

  const Hierarchy& tree() const override { return tree_; }

  std::unique_ptr<ArraySource> open_array(const std::string& path) const override {
    const auto node = tree_.nameless ? nodes_.begin() : nodes_.find(path);
    if (node == nodes_.end()) no_such_array(path, keys_);
    return std::make_unique<ObjectSource>(store_, node->second->meta, keys_.at(node->first));
  }

 private:
  std::shared_ptr<Store> store_;
  Hierarchy tree_;
  std::map<std::string, const ArrayNode*> nodes_;
  std::map<std::string, ChunkKeys> keys_;
};

class ObjectWriter final : public Writer {
 public:
  ObjectWriter(std::shared_ptr<Store> store, const Hierarchy& tree, std::map<std::string, ChunkKeys> keys,
               std::vector<HeldObject> held)
      : store_(std::move(store)), keys_(std::move(keys)), held_(std::move(held)) {
    for (const ArrayNode& node : tree.arrays) metas_.emplace(node.meta.path, node.meta);
  }

  std::unique_ptr<ArraySink> open_array(const std::string& path) override {
    const auto meta = metas_.find(path);
    if (meta == metas_.end()) no_such_array(path, keys_);
    return std::make_unique<ObjectSink>(store_, meta->second, keys_.at(path));
  }

  std::optional<std::string> checkpoint() override {
    store_->sync();
    return std::string();  // a chunk is found by its name
  }

  void finish() override {
    for (const auto& [key, content] : held_) store_->write(key, as_bytes(content));
    store_->sync();
  }

 private:
  std::shared_ptr<Store> store_;
  std::map<std::string, ArrayMeta> metas_;
  std::map<std::string, ChunkKeys> keys_;
  std::vector<HeldObject> held_;
};

}  // namespace

std::string ChunkKeys::key(const Shape& coords) const {
  std::string key = prefix;
  if (marked) key += 'c';
  if (coords.rank() == 0 && !marked) key += '0';
  for (int axis = 0; axis < coords.rank(); ++axis) {
    if (axis > 0 || marked) key += separator;
    key += std::to_string(coords[axis]);
  }
  return key;
}

StoredChunks count_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid) {
  Counter counter(store, grid.counts());
  if (grid.n_chunks() == 0) return {};
  if (grid.array().rank() == 0) {
    counter.add(keys.key(Shape()));
  } else if (keys.separator == '.') {
    counter.dotted(keys.prefix, keys.marked ? "c." : "");
  } else {
    counter.nested(keys.prefix + (keys.marked ? "c/" : ""), 0);
  }
  return counter.found();
}

std::unique_ptr<Reader> make_object_reader(std::shared_ptr<Store> store, Hierarchy tree,
                                           std::map<std::string, ChunkKeys> keys) {
  return std::make_unique<ObjectReader>(std::move(store), std::move(tree), std::move(keys));
}

std::unique_ptr<Writer> make_object_writer(std::shared_ptr<Store> store, const Hierarchy& tree,
                                           std::map<std::string, ChunkKeys> keys, std::vector<HeldObject> held) {
  return std::make_unique<ObjectWriter>(std::move(store), tree, std::move(keys), std::move(held));
}

}  // namespace chunkwise
