// Reading chunks that lie in shards: the index of a shard, and then only what is asked for.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "array/object_chunks.h"
#include "array/shard_index.h"
#include "array/source.h"
#include "store/gather.h"

namespace chunkwise {

class ShardSource final : public ArraySource {
 public:
  ShardSource(std::shared_ptr<const Store> store, ArrayMeta meta, ObjectChunks chunks);

  ChunkRef locate(ChunkId id) const override;
  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override;

  /// Numbers of the objects: of the outermost shards.
  const ChunkGrid& units() const { return levels_.front().grid; }

  struct Count {
    Index n_chunks = 0;
    bool is_estimate = false;  // then neither none nor all
  };
  /// Stored chunks, by the indexes of the shards. Of many shards only some are opened, unless `exactly`; where the
  /// listing has no table (millions of shards), none.
  Count count(bool exactly) const;

  /// The most that a source of this array keeps of indexes, with what loading one takes.
  static std::uint64_t most_index_bytes(const ArrayMeta& meta);

 private:
  struct Level {
    ShardIndexForm form;
    ChunkGrid grid;  // of this level's shards over the array
    Shape part;      // what they hold
  };
  /// The index of one shard, and where the shard lies in its object.
  struct ShardIndex {
    bool exists = false;
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;
    std::vector<ShardEntry> entries;
  };
  using IndexPtr = std::shared_ptr<const ShardIndex>;
  using IndexKey = std::pair<std::size_t, Index>;  // level, number of the shard

  std::optional<ByteRange> find(ChunkId id) const;
  std::optional<ByteRange> find_part(std::size_t level, const Shape& origin) const;
  IndexPtr index_of(std::size_t level, const Shape& origin) const;
  IndexPtr load(std::size_t level, const Shape& origin) const;
  ChunkId unit_of(ChunkId id) const;
  std::optional<StoredChunks::Size> listed_size(ChunkId unit) const;
  Index n_stored(ChunkId unit) const;
  std::string place(ChunkId id) const;

  std::shared_ptr<const Store> store_;
  ObjectChunks chunks_;
  std::vector<Level> levels_;
  std::size_t max_stored_bytes_ = 0;

  mutable std::mutex mutex_;  // guards the rest
  mutable CodecChain::Scratch scratch_;
  mutable Bytes stored_index_;
  mutable std::list<std::pair<IndexKey, IndexPtr>> recent_;  // the last one used first
  mutable std::map<IndexKey, std::list<std::pair<IndexKey, IndexPtr>>::iterator> known_;
  mutable std::uint64_t known_bytes_ = 0;
  std::uint64_t most_known_bytes_ = 0;
};

}  // namespace chunkwise
