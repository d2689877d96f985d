// Arrays that keep each chunk in an object of its own, as Zarr does.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_keys.h"
#include "array/dataset.h"
#include "array/hierarchy.h"
#include "array/stored_chunks.h"
#include "store/store.h"

namespace chunkwise {

/// The chunks of an array that was found.
struct ObjectChunks {
  ChunkKeys keys;
  std::shared_ptr<const StoredChunks> stored;
};

/// Lists the objects of an array, and fills what `meta` says of stored chunks. In shards they are counted by their
/// indexes; of many shards some are read, and the count becomes an estimate. Throws Error{io}, Error{corrupt}.
ObjectChunks find_chunks(const std::shared_ptr<const Store>& store, const ChunkKeys& keys, ArrayMeta& meta);

/// The most bytes a stored chunk is believed to have. Without a limit where nobody here can tell.
std::size_t most_stored_bytes(const ArrayMeta& meta);

/// A reader over a tree that was read already, with the chunks of every array by its path. A chunk is expected to stay
/// as it was listed: reading one that is gone or has another size is an error.
std::unique_ptr<Reader> make_object_reader(std::shared_ptr<Store> store, Hierarchy tree,
                                           std::map<std::string, ObjectChunks> chunks);

/// An object to be written last.
using HeldObject = std::pair<std::string, std::string>;  // key, content

/// A writer for arrays whose metadata objects stand already. finish() writes `held` in order and syncs. `earlier`: what
/// other processes did for this writer, null if it begins.
std::unique_ptr<Writer> make_object_writer(std::shared_ptr<Store> store, const Hierarchy& tree,
                                           std::map<std::string, ChunkKeys> keys, std::vector<HeldObject> held,
                                           const EarlierWork* earlier = nullptr);

}  // namespace chunkwise
