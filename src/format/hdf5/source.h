// Datasets as sources of encoded chunks.
#pragma once

#include <memory>

#include "array/linear.h"
#include "array/source.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Which process walks the index of chunks: a child must if none has done so before (first_look.h).
enum class Locate { here, in_child };

/// Opens a dataset for reading chunks. `meta` is complete but for the stored counts; for contiguous and compact storage
/// meta.chunk must be a run of bytes (see linear_chunk), pads_edges false, codecs empty. meta.codecs[i] is filter i of
/// the dataset's pipeline. For chunked storage the addresses of all stored chunks are collected now, under the lock, at
/// about 1 us each; 16 bytes per chunk stay in memory. A bad address is not an error here but in locate() and read().
/// Throws Error{unsupported} for variable-length storage and for elements in other files (see elsewhere.h),
/// Error{corrupt}.
std::unique_ptr<ArraySource> make_source(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta,
                                         Locate where = Locate::here);

/// Fills meta.stored_bytes and meta.n_stored_chunks; meta.storage, shape and chunk must be set. One walk over the chunk
/// index, no table (a million chunks: well below a second). Contiguous: 0 and 0 if not allocated. Virtual: as if all of
/// it were stored.
void count_stored(const Lock& lock, hid_t dataset, ArrayMeta& meta);

}  // namespace chunkwise::hdf5
