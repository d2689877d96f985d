// The first look at a file happens where a crash of the HDF5 library cannot take this process down.
//
// Damaged files make the library write over its memory, loop for ever or ask for all the memory there is. So a child
// process does first, under limits, what this process is about to do: it opens the file, walks it, then reads whatever
// else the library may be asked to read for us. What the walk found it hands over; only a file that lets the child come
// to its end is opened here. The child is a copy of this process, so that the library does the same here as there.
#pragma once

#include <string>
#include <vector>

#include "format/hdf5/chunk_table.h"
#include "format/hdf5/file.h"
#include "format/hdf5/records.h"

namespace chunkwise::hdf5 {

/// What the child has to look at before this process may open the file.
enum class LookAt {
  metadata,    // enough if it never will: all that the records say
  everything,  // also what is read for copying
};

struct FirstLook {
  FileRecords records;
  /// LookAt::everything: for each array, in the order of the tree: the child has looked its chunks up. Arrays of very
  /// many chunks are left to locate_in_child.
  std::vector<bool> located;
};

/// Throws what opening and walking the file throws; Error{corrupt} if the child crashes, does not come to an end or
/// wants far more memory than such a file can need; Error{io} if the system refuses a process.
FirstLook first_look(const std::string& path, LookAt what);

/// The table of chunks of one dataset, made by a child process. Throws as ChunkTable does, and as first_look.
ChunkTable locate_in_child(const Lock& lock, File& file, hid_t dataset, const ArrayMeta& meta);

}  // namespace chunkwise::hdf5
