// Files that store equal dataspaces, types, fill values, filters or attributes once for all objects (shared object
// header messages).
#pragma once

#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// True if `file` may store a message once for several objects.
bool shares_messages(const Lock& lock, hid_t file);

// What comes from an object of such a file remembers where in the file it is stored. If another file shares messages as
// well, the library takes that place for one in the other, and writes objects that nobody can open. These return equals
// that were never in a file.

/// A dataspace; its selection is not kept.
Hid fresh_space(const Lock& lock, hid_t space);
/// A type that is not committed.
Hid fresh_type(const Lock& lock, hid_t type);
/// A dataset creation list. Throws Error{unsupported} for a fill value with lists or texts of variable length.
Hid fresh_creation_list(const Lock& lock, hid_t dcpl, hid_t type);

}  // namespace chunkwise::hdf5
