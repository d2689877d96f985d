// Datasets as sinks of encoded chunks.
#pragma once

#include <memory>

#include "array/source.h"
#include "format/hdf5/allocation.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

class Hdf5Sink : public ArraySink {
 public:
  /// Lets the library give a place as it did in an earlier process. Throws Error{unsupported} if it is another one.
  virtual void place_again(const Allocation& allocation) = 0;

 protected:
  using ArraySink::ArraySink;
};

/// Opens a dataset of a file being created for writing chunks. `meta` must describe it exactly: meta.codecs[i] is
/// filter i of its pipeline; for contiguous and compact storage meta.chunk is a run of bytes (linear_chunk) and codecs
/// are empty. Chunked: the library allocates and indexes under the lock, the bytes are written outside it. Contiguous:
/// space is allocated at the first write (or at creation, if the dataset says so), and an absent chunk is written as
/// meta.fill: once one chunk is written, all must be. Compact: written through the library in the dataset's own type,
/// without conversion. `number` names the array in what File::note() gets.
/// write() throws Error{corrupt} if a chunk without effective codecs has not the exact size, Error{io}, and
/// Error{internal} for an id outside the grid or a filtered edge where meta.raw_edges forbids it. Absent chunks of
/// other arrays are skipped.
std::unique_ptr<Hdf5Sink> make_sink(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, std::uint32_t number = 0);

}  // namespace chunkwise::hdf5
