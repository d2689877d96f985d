// Writing chunks into shards: each is appended to its shard's object as it comes, and the index follows when all are
// there. No shard is ever held in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "array/object_chunks.h"
#include "array/shard_index.h"
#include "array/source.h"
#include "base/packing.h"

namespace chunkwise {

/// Where chunks were put, for a journal. Thread-safe.
class ShardNotes {
 public:
  struct Note {
    std::size_t array = 0;  // its number in the hierarchy
    ChunkId chunk{};
    ShardEntry place;
  };
  void add(const Note& note);
  /// Packs what was added since the last call, and forgets it.
  std::string take();
  /// Calls `use` with each note of what take() returned. Throws Error{corrupt}.
  static void for_each(ByteView packed, const std::function<void(const Note&)>& use);

 private:
  std::mutex mutex_;
  std::vector<Note> notes_;
};

/// A shard that some chunks, but not all, are in.
struct PartialShard {
  std::vector<ShardEntry> entries;  // empty while no chunk is present
  Index n_due = 0;                  // chunks still to come, absent ones included
  std::uint64_t end_bytes = 0;      // where the next one goes
};

class ShardSink final : public ArraySink {
 public:
  /// `number`: of the array in the hierarchy, for `notes`. `earlier`: shards begun by another process, by their number.
  ShardSink(std::shared_ptr<Store> store, ArrayMeta meta, ChunkKeys keys, std::size_t number,
            std::shared_ptr<ShardNotes> notes, std::map<Index, PartialShard> earlier);

  /// Every chunk of the grid must be written, present or absent, for its shard to be finished.
  void write(ChunkId id, const EncodedChunk& chunk) override;

  /// Shards that some process began before the checkpoints of `earlier`, and did not finish. `number` as above.
  /// Throws Error{unsupported} if an object of theirs is shorter than it was.
  static std::map<Index, PartialShard> unfinished(const Store& store, const ArrayMeta& meta, const ChunkKeys& keys,
                                                  std::size_t number, const EarlierWork& earlier);

  /// Memory of a shard from its first chunk to its last, and that of finishing one.
  static std::uint64_t open_bytes(const ArrayMeta& meta);
  static std::uint64_t finishing_bytes(const ArrayMeta& meta);

 private:
  struct OpenShard {
    ChunkId unit{};
    PartialShard part;   // guarded by `mutex`
    bool is_new = true;  // no process but this one has written to it, or it has not been opened yet
    std::shared_ptr<PieceWriter> pieces;
    std::list<OpenShard*>::iterator place_in_line;
    std::mutex mutex;
  };

  std::shared_ptr<OpenShard> open_shard(ChunkId unit);
  std::shared_ptr<PieceWriter> pieces_of(OpenShard& shard);
  void append(OpenShard& shard, ChunkId id, ByteView bytes);
  void finish(const std::shared_ptr<OpenShard>& shard);

  const std::shared_ptr<Store> store_;
  const ChunkKeys keys_;
  const std::size_t number_;
  const std::shared_ptr<ShardNotes> notes_;
  const ShardIndexForm form_;
  const ChunkGrid units_;

  std::mutex shards_mutex_;  // guards the next two
  std::map<Index, std::shared_ptr<OpenShard>> open_;
  std::map<Index, PartialShard> earlier_;
  std::mutex pieces_mutex_;             // guards the open objects of all shards
  std::list<OpenShard*> with_objects_;  // the one used last first
  std::mutex finishing_mutex_;          // guards the next
  CodecChain::Scratch scratch_;
};

}  // namespace chunkwise
