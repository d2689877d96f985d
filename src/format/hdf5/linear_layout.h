// Arrays that are one run of bytes in C order, cut into runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "array/meta.h"
#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// Offset and length in bytes of what a chunk covers, from the array's first byte. The chunk must be a run.
struct LinearRange {
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;
};
LinearRange linear_range(const ChunkGrid& grid, ChunkId id, std::size_t element_bytes);

/// Bytes of the whole array. Throws Error{corrupt} on overflow.
std::uint64_t linear_bytes(const ArrayMeta& meta);

/// Throws Error{internal} unless meta's chunks are runs of bytes without codecs, clipped at the end.
void check_linear(const ArrayMeta& meta);

/// H5Dget_storage_size that tells an error from nothing stored. Throws Error{corrupt}.
std::uint64_t storage_bytes(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

/// Absolute address (user block included) of a contiguous dataset's first byte; nothing if it is not allocated. Throws
/// Error{corrupt}.
std::optional<std::uint64_t> contiguous_address(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

/// The dataset's own element type, for transfers without conversion. Throws Error{unsupported} if elements are of
/// variable length or references into the file.
Hid plain_type(const Lock& lock, hid_t dataset, const ArrayMeta& meta);

}  // namespace chunkwise::hdf5
