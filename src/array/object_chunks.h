// Arrays that keep each chunk in an object of its own, as Zarr does.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/dataset.h"
#include "array/hierarchy.h"
#include "store/store.h"

namespace chunkwise {

/// How chunk keys are spelled: "a/b/" + "0.3.1", or "a/b/" + "c/0/3/1".
struct ChunkKeys {
  std::string prefix;    // of the array: "a/b/", or empty at the root
  bool marked = false;   // the indices follow a "c" (Zarr v3 default encoding)
  char separator = '.';  // '.' or '/'

  std::string key(const Shape& coords) const;
};

/// What a listing of the store finds of an array.
struct StoredChunks {
  Index count = 0;
  std::uint64_t bytes = 0;
};

/// Lists the chunk objects of the grid; objects of other names are not counted. Throws Error{io}.
StoredChunks count_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid);

/// A reader over a tree that was read already. `keys` holds the keys of every array by its path.
std::unique_ptr<Reader> make_object_reader(std::shared_ptr<Store> store, Hierarchy tree,
                                           std::map<std::string, ChunkKeys> keys);

/// An object to be written last.
using HeldObject = std::pair<std::string, std::string>;  // key, content

/// A writer for arrays whose metadata objects stand already. finish() writes `held` in order and syncs.
std::unique_ptr<Writer> make_object_writer(std::shared_ptr<Store> store, const Hierarchy& tree,
                                           std::map<std::string, ChunkKeys> keys, std::vector<HeldObject> held);

}  // namespace chunkwise
