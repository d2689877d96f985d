// Where the elements of an array lie, for reading and writing them through the library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array/meta.h"
#include "format/hdf5/chunk_table.h"
#include "format/hdf5/element_form.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// One array with its place in a file. Borrows both.
struct ElementPlace {
  const std::shared_ptr<File>& file;
  std::string path;  // in the file
  const ArrayMeta& meta;
  bool lies_elsewhere = false;  // the elements are in other files
};

/// Bytes of a chunk as the library holds it decoded; 0 for arrays without chunks.
std::uint64_t chunk_cache_bytes(const ArrayMeta& meta);

/// A dataset opened so that the library keeps a chunk decoded: pieces of a chunk are read and written one after the
/// other.
Hid open_with_cache(const Lock& lock, const ElementPlace& place);

MemoryForm form_of(const Lock& lock, hid_t dataset, const ArrayMeta& meta, Texts texts = Texts::as_lists);

/// The chunks of a source that exist. What does not exist must not even be read: for fill values with lists the library
/// would write to the file.
class Presence {
 public:
  Presence(const Lock& lock, const ElementPlace& from, hid_t dataset);
  bool has(ChunkId id) const;
  /// The parts of `box` that were written.
  std::vector<Box> parts(const Box& box) const;

 private:
  ChunkGrid grid_;
  bool any_ = true;
  std::optional<ChunkTable> table_;
};

}  // namespace chunkwise::hdf5
