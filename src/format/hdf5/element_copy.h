// Elements that hold lists or references, copied and compared through the library.
#pragma once

#include "array/dataset.h"
#include "format/hdf5/element_place.h"
#include "format/hdf5/object_map.h"

namespace chunkwise::hdf5 {

/// Copies all elements, target chunk by target chunk; chunks of which the source never wrote anything stay unwritten.
/// Takes the lock for a piece at a time. Throws Error{budget} if one element alone passes the memory.
void copy_elements(const ElementPlace& from, const ElementPlace& to, ObjectMap& objects, const ElementWork& work);

/// Reads elements as copy_elements does, and follows their references, as long as there is time left of `left_s`.
/// Arrays with huge chunks are left alone. For a child that finds out which files crash the library.
void rehearse_elements(const ElementPlace& from, double& left_s);

/// Compares the elements of the target chunks that work.chosen names; references by the path of what they lead to.
/// `paths_*`: the objects of both files by their addresses. Throws Error{mismatch} naming the first element that
/// differs.
using ObjectPaths = std::map<haddr_t, std::string>;
void compare_elements(const ElementPlace& wanted, const ObjectPaths& wanted_paths, const ElementPlace& got,
                      const ObjectPaths& got_paths, const ElementWork& work);

}  // namespace chunkwise::hdf5
