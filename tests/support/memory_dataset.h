// A dataset in memory, for tests of what works on any format.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "array/dataset.h"
#include "base/error.h"
#include "codec/chain.h"

namespace chunkwise::testing {

/// Encoded chunks by number; thread-safe.
struct MemoryChunks {
  std::mutex mutex;
  std::map<Index, std::string> bytes;
  Index n_reads = 0;
  Index n_writes = 0;
  bool is_locatable = true;  // false: only reading tells what is there
};

class MemorySource : public ArraySource {
 public:
  MemorySource(ArrayMeta meta, std::shared_ptr<MemoryChunks> chunks)
      : ArraySource(std::move(meta)), chunks_(std::move(chunks)) {}
  ChunkRef locate(ChunkId id) const override {
    const std::lock_guard lock(chunks_->mutex);
    if (!chunks_->is_locatable) return Unlocated{2 * meta_.chunk_bytes() + 64};
    const auto found = chunks_->bytes.find(linear(id));
    if (found == chunks_->bytes.end()) return Absent{};
    return StoredAt{0, found->second.size(), 0};
  }
  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    const std::lock_guard lock(chunks_->mutex);
    for (ChunkId id : ids) {
      const auto found = chunks_->bytes.find(linear(id));
      if (found == chunks_->bytes.end()) {
        if (chunks_->is_locatable) throw Error(Code::internal, "read an absent chunk");
        batch.chunks.push_back({{}, 0, true});
        continue;
      }
      batch.blocks.push_back(Bytes::copy_of(as_bytes(found->second)));
      batch.chunks.push_back({batch.blocks.back().view(), 0, false});
      ++chunks_->n_reads;
    }
  }

 private:
  std::shared_ptr<MemoryChunks> chunks_;
};

class MemorySink : public ArraySink {
 public:
  MemorySink(ArrayMeta meta, std::shared_ptr<MemoryChunks> chunks)
      : ArraySink(std::move(meta)), chunks_(std::move(chunks)) {}
  void write(ChunkId id, const EncodedChunk& chunk) override {
    if (chunk.absent) return;
    const std::lock_guard lock(chunks_->mutex);
    chunks_->bytes[linear(id)] = std::string(as_text(chunk.bytes));
    ++chunks_->n_writes;
  }

 private:
  std::shared_ptr<MemoryChunks> chunks_;
};

/// Reader and Writer over the same arrays.
class MemoryDataset : public Reader, public Writer {
 public:
  void add(const ArrayMeta& meta) {
    ArrayNode node;
    node.meta = meta;
    tree_.arrays.push_back(node);
    chunks_[meta.path] = std::make_shared<MemoryChunks>();
  }
  ArrayMeta& meta(std::size_t i) { return tree_.arrays[i].meta; }
  MemoryChunks& chunks(const std::string& path) { return *chunks_.at(path); }
  const Hierarchy& tree() const override { return tree_; }
  std::unique_ptr<ArraySource> open_array(const std::string& path) const override {
    return std::make_unique<MemorySource>(find(path), chunks_.at(path));
  }
  std::unique_ptr<ArraySink> open_array(const std::string& path) override {
    return std::make_unique<MemorySink>(find(path), chunks_.at(path));
  }
  void finish() override {}

 private:
  const ArrayMeta& find(const std::string& path) const {
    for (const ArrayNode& node : tree_.arrays)
      if (node.meta.path == path) return node.meta;
    throw Error(Code::internal, "no array " + path);
  }
  Hierarchy tree_;
  std::map<std::string, std::shared_ptr<MemoryChunks>> chunks_;
};

}  // namespace chunkwise::testing
