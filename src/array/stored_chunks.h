// Which chunks of an array exist as objects of a store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "array/chunk_keys.h"
#include "grid/chunk_grid.h"
#include "store/store.h"

namespace chunkwise {

/// What a listing of the store found. Immutable, thread-safe.
class StoredChunks {
 public:
  Index count() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }

  /// The size of a chunk's object, absent as a value; nothing if only the store can tell: grids of many millions of
  /// chunks have no table.
  struct Size {
    bool is_absent = false;
    std::uint64_t bytes = 0;
  };
  std::optional<Size> size_of(ChunkId id) const;

 private:
  friend class ChunkLister;
  Index count_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint32_t> sizes_;  // plus one; 0 is absent; kUntold: too large for the table
};

/// Lists the chunk objects of the grid, folders of nested keys several at a time: on a cold device each is a wait.
/// Objects of other names are not counted. Throws Error{io}, Error{corrupt} where a directory has a chunk's name.
StoredChunks list_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid);

/// A listing that waits until somebody needs it, and is then made once. Thread-safe.
class LateListing {
 public:
  LateListing(std::shared_ptr<const Store> store, ChunkKeys keys, ChunkGrid grid)
      : store_(std::move(store)), keys_(std::move(keys)), grid_(std::move(grid)) {}

  /// Throws what list_chunks() does.
  const StoredChunks& get() const;
  /// Null if nobody needed it yet.
  const StoredChunks* if_made() const { return made_.load(std::memory_order_acquire); }

 private:
  std::shared_ptr<const Store> store_;
  ChunkKeys keys_;
  ChunkGrid grid_;
  mutable std::mutex mutex_;
  mutable std::optional<StoredChunks> chunks_;
  mutable std::atomic<const StoredChunks*> made_{nullptr};
};

}  // namespace chunkwise
