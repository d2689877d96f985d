// Source chunks that are read together, and the memory they lie in.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "rechunk/tile_run.h"

namespace chunkwise {

/// What reading so many bytes may take, see ArraySource::read.
inline std::uint64_t with_gaps(std::uint64_t bytes) {
  return bytes + bytes / 8;
}

/// Memory of batches that are done, for the next ones: fresh pages cost more than the bytes read into them. All blocks
/// have one size, so that no more are kept than were in use at one time.
class IdleBatches {
 public:
  explicit IdleBatches(std::size_t usual_bytes) : usual_bytes_(usual_bytes) {}

  ReadBatch take(std::size_t bytes) {
    ReadBatch batch;
    const std::lock_guard lock(mutex_);
    if (bytes > usual_bytes_) {
      idle_.clear();  // this one needs the memory
    } else if (idle_.empty()) {
      batch.blocks.emplace_back(usual_bytes_);
    } else {
      batch = std::move(idle_.back());
      idle_.pop_back();
    }
    return batch;
  }
  void give(ReadBatch&& batch) {
    if (batch.blocks.size() != 1 || batch.blocks[0].capacity() > usual_bytes_ + usual_bytes_ / 8) return;
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(batch));
  }

 private:
  const std::size_t usual_bytes_;
  std::mutex mutex_;
  std::vector<ReadBatch> idle_;
};

/// The same of tiles' elements, while their size stays: that saves the system zeroing it again. Thread-safe.
class IdleElements {
 public:
  Bytes take(std::size_t bytes) {
    Bytes elements;
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty() && idle_.back().capacity() >= bytes && idle_.back().capacity() <= bytes + bytes / 16) {
        elements = std::move(idle_.back());
        idle_.pop_back();
      } else {
        idle_.clear();
      }
    }
    elements.resize_discard(bytes);
    return elements;
  }
  void give(Bytes&& elements) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(elements));
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Bytes> idle_;
};

struct Batch {
  explicit Batch(IdleBatches& idle_batches) : idle(idle_batches) {}
  ~Batch() { idle.give(std::move(data)); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  std::optional<std::uint64_t> hash(std::size_t i) const {
    return hashes.empty() ? std::nullopt : std::optional(hashes[i]);
  }

  IdleBatches& idle;
  std::shared_ptr<ArrayRun> array;
  std::shared_ptr<TileRun> tile;  // null for encoded copies
  BlockLease block;
  MemoryBudget::Lease lease;
  std::vector<ChunkId> ids;
  ReadBatch data;
  std::vector<std::uint64_t> hashes;  // of the chunks when they were read, where the plan proves all
};

}  // namespace chunkwise
