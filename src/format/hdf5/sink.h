// Datasets as sinks of encoded chunks.
#pragma once

#include <memory>

#include "array/source.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Opens a dataset of a file being created for writing chunks. `meta` must describe it exactly: meta.codecs[i] is
/// filter i of its pipeline; for contiguous and compact storage meta.chunk is a run of bytes (linear_chunk) and codecs
/// are empty. Chunked: the library allocates and indexes under the lock, the bytes are written outside it. Contiguous:
/// space is allocated at the first write (or at creation, if the dataset says so); runs never written get meta.fill in
/// File::finish(). Compact: written through the library in the dataset's own type, without conversion.
/// write() throws Error{corrupt} if a chunk without effective codecs has not the exact size, Error{io}, and
/// Error{internal} for an id outside the grid or a filtered edge where meta.raw_edges forbids it. Absent chunks are
/// skipped.
std::unique_ptr<ArraySink> make_sink(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta);

}  // namespace chunkwise::hdf5
