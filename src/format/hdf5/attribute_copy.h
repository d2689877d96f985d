// Copying HDF5 attributes as they are, from file to file.
#pragma once

#include <string>

#include "format/hdf5/committed_types.h"
#include "format/hdf5/object_map.h"

namespace chunkwise::hdf5 {

/// Reads what copy_attribute would read of an attribute, and follows its references. Throws Error{corrupt}.
void rehearse_copy(const Lock& lock, const File& file, hid_t source, const std::string& name);

/// Copies attribute `name` with its own type, space and character set; references are moved. In DIMENSION_LIST and
/// REFERENCE_LIST those to objects that were left out vanish, and with the last of them a REFERENCE_LIST.
/// Throws Error{unsupported} for other references to objects left out.
void copy_attribute(const Lock& lock, hid_t source, hid_t target, const std::string& name, CommittedTypes& types,
                    ObjectMap& objects);

}  // namespace chunkwise::hdf5
