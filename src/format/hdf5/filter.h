// Filters the HDF5 library does not bring along, made known to it.
#pragma once

#include <string>

#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// Makes H5Pset_filter and H5Dcreate accept filter `id`. Filters of our codec registry work for real; any other that
/// neither the library nor its plugins know becomes a stand-in that fails when the library must run it, but lets chunks
/// be copied encoded. `name` is what the library stores beside an id it has no name for (a creation list copied from a
/// file keeps its own). Throws Error{unsupported} if the library refuses the id.
void make_filter_known(const Lock& lock, int id, const std::string& name);

/// Registers the codecs of codec/registry.h that have an HDF5 id above the library's own (256 and more). Called by
/// Lock.
void register_codec_filters();

}  // namespace chunkwise::hdf5
