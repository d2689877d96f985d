// Where HDF5 keeps arrays that are one run of bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "array/linear.h"
#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// H5Dget_storage_size that tells an error from nothing stored. Throws Error{corrupt}.
std::uint64_t storage_bytes(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

/// Absolute address (user block included) of a contiguous dataset's first byte; nothing if it is not allocated. Throws
/// Error{corrupt}.
std::optional<std::uint64_t> contiguous_address(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

/// The dataset's own element type, for transfers without conversion. Throws Error{unsupported} if elements are of
/// variable length or references into the file.
Hid plain_type(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

}  // namespace chunkwise::hdf5
