// Arrays that keep each chunk in an object of its own, as Zarr does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/chunk_keys.h"
#include "array/dataset.h"
#include "array/hierarchy.h"
#include "array/stored_chunks.h"
#include "store/store.h"

namespace chunkwise {

/// The chunks of an array that was found. With neither listing the store is asked for each chunk.
struct ObjectChunks {
  ChunkKeys keys;
  std::shared_ptr<const StoredChunks> stored;
  /// Of an array that seems to have all its chunks: each is looked for when it is read. The first that is not found has
  /// all of them listed, because only a listing tells a chunk that was never written from one that something hides.
  std::shared_ptr<const LateListing> late;
};

/// Lists the objects of an array, and fills what `meta` says of stored chunks. In shards they are counted by their
/// indexes; of many shards some are read, and the count becomes an estimate. Throws Error{io}, Error{corrupt}.
ObjectChunks find_chunks(const std::shared_ptr<const Store>& store, const ChunkKeys& keys, ArrayMeta& meta);

/// Finds the chunks of an array of very many without a listing, and fills what `meta` says of stored chunks with an
/// estimate. Nothing, if the array has few, or shards, or not nearly all of its chunks.
std::optional<ObjectChunks> find_chunks_late(const std::shared_ptr<const Store>& store, const ChunkKeys& keys,
                                             ArrayMeta& meta);

/// The most bytes a stored chunk is believed to have. Without a limit where nobody here can tell.
std::size_t most_stored_bytes(const ArrayMeta& meta);

/// A reader over a tree that was read already, with the chunks of every array by its path. A chunk is expected to stay
/// as it was found: reading one that is gone or has another size is an error.
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
