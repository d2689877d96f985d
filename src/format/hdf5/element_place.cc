#include "format/hdf5/element_place.h"

#include "format/hdf5/elsewhere.h"

namespace chunkwise::hdf5 {

std::uint64_t chunk_cache_bytes(const ArrayMeta& meta) {
  return meta.storage == Storage::chunked ? meta.chunk_bytes() : 0;
}

Hid open_with_cache(const Lock& lock, const ElementPlace& place) {
  const Hid access = owned(lock, H5Pcreate(H5P_DATASET_ACCESS), "cannot create a property list", Code::internal);
  constexpr std::size_t kSlots = 521;
  checked(lock, H5Pset_chunk_cache(access.get(), kSlots, static_cast<std::size_t>(chunk_cache_bytes(place.meta)), 1.0),
          "cannot set the cache of chunks", Code::internal);
  return open_with_others(lock, *place.file, place.path, access);
}

MemoryForm form_of(const Lock& lock, hid_t dataset, const ArrayMeta& meta, Texts texts) {
  const Hid type = owned(lock, H5Dget_type(dataset), "cannot read the type of " + meta.path);
  return memory_form(lock, type.get(), texts);
}

Presence::Presence(const Lock& lock, const ElementPlace& from, hid_t dataset)
    : grid_(from.meta.grid()), any_(from.meta.n_stored_chunks > 0) {
  if (from.meta.storage == Storage::chunked && from.meta.n_stored_chunks < grid_.n_chunks())
    table_.emplace(lock, *from.file, dataset, from.meta);
}

bool Presence::has(ChunkId id) const {
  return table_ ? table_->find(id).has_value() : any_;
}

std::vector<Box> Presence::parts(const Box& box) const {
  if (!table_) return {box};
  std::vector<Box> parts;
  for (const ChunkId id : grid_.overlapping(box))
    if (table_->find(id)) parts.push_back(intersect(grid_.box(id), box));
  return parts;
}

}  // namespace chunkwise::hdf5
