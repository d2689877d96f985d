// Where the stored chunks of a dataset lie.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/meta.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Immutable once collected, thread-safe.
class ChunkTable {
 public:
  /// As the library tells it: not checked against the file. `kUnreadable` as address: the library found the chunk's
  /// record but refuses it.
  struct Entry {
    std::uint64_t address = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t filter_mask = 0;
  };
  static constexpr std::uint64_t kUnreadable = std::numeric_limits<std::uint64_t>::max();

  /// Asks the library for every stored chunk inside the current extent, through the capture of the driver.
  /// Throws Error{corrupt} if it cannot walk its index, Error{unsupported} for a grid too large to walk.
  ChunkTable(const Lock& lock, File& file, hid_t dataset, const ArrayMeta& meta);
  /// About how long that takes.
  static double expected_seconds(Index n_stored, Index n_chunks);

  /// A table for another process of the same program, and back.
  std::string to_bytes() const;
  static ChunkTable from_bytes(std::string_view bytes);

  /// Nothing if the chunk was never written.
  std::optional<Entry> find(ChunkId id) const;
  Index n_stored() const { return static_cast<Index>(entries_.size()); }
  std::uint64_t stored_bytes() const { return stored_bytes_; }

 private:
  ChunkTable() = default;
  void check_count(Index n_indexed, const ArrayMeta& meta) const;

  std::vector<Entry> entries_;
  std::vector<Index> ids_;  // of entries_, ascending; empty if all chunks are stored
  std::uint64_t stored_bytes_ = 0;
};

/// H5Dget_num_chunks. Throws Error{corrupt}.
Index count_chunks(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

}  // namespace chunkwise::hdf5
