// Which chunks of the target are finished, and what is known of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "array/meta.h"
#include "base/packing.h"
#include "rechunk/proof.h"

namespace chunkwise {

/// Two sets: the chunks that earlier runs finished, fixed before work begins, and those this run finished since the
/// last checkpoint took them. Chunks are numbered in the target's grid, so neither depends on the plan. Where several
/// processes share the work, the chunks of the others count as done before. add() and the counters are thread-safe, as
/// are the questions about earlier runs.
class DoneChunks {
 public:
  /// `of_others`: by array and chunk, what other processes do; empty, or of an array empty: nothing.
  explicit DoneChunks(const std::vector<ArrayMeta>& targets, std::vector<std::vector<bool>> of_others = {});

  /// Adds what take() packed in an earlier run. Throws Error{corrupt} if it does not fit the arrays.
  void restore(Unpacker& packed);
  bool was_done(std::size_t array, ChunkId id) const {
    const Earlier& earlier = earlier_[array];
    const auto number = static_cast<std::size_t>(linear(id));
    return (earlier.n_done > 0 && earlier.done[number]) || (!earlier.of_others.empty() && earlier.of_others[number]);
  }
  /// False if no chunk of the array was.
  bool any_was_done(std::size_t array) const {
    return earlier_[array].n_done > 0 || !earlier_[array].of_others.empty();
  }
  /// Decoded bytes of what others do.
  std::uint64_t bytes_of_others() const;
  Index n_done_before() const;
  Index n_done_before(std::size_t array) const { return earlier_[array].n_done; }
  /// Decoded bytes of what was done before; within the array, as everywhere where progress is counted.
  std::uint64_t bytes_done_before() const;
  /// Proofs of earlier runs, by array.
  const std::vector<std::vector<ChunkProof>>& earlier_proofs() const { return earlier_proofs_; }

  /// Finished now: written, or found to be better left unwritten. Their bytes need not be durable. Counts their decoded
  /// bytes.
  void add(std::size_t array, std::span<const ChunkId> ids, std::span<const ChunkProof> proofs);
  std::uint64_t n_pending() const { return n_pending_; }
  std::uint64_t bytes_done_now() const { return bytes_done_now_; }
  /// Packs what was added since the last call, and forgets it.
  void take(Packer& out);

 private:
  struct Earlier {
    ChunkGrid grid;
    std::size_t element_bytes = 1;
    Index n_done = 0;
    std::vector<bool> done;  // empty until one is
    std::vector<bool> of_others;
  };
  struct Pending {
    std::vector<Index> ids;
    std::vector<ChunkProof> proofs;
  };
  std::uint64_t bytes_of(std::size_t array, ChunkId id) const;

  std::vector<Earlier> earlier_;
  std::vector<std::vector<ChunkProof>> earlier_proofs_;

  std::atomic<std::uint64_t> n_pending_{0};
  std::atomic<std::uint64_t> bytes_done_now_{0};
  std::mutex mutex_;  // guards the next
  std::vector<Pending> pending_;
};

}  // namespace chunkwise
