// Texts and lists of numbers, read and written through the library for other formats.
#pragma once

#include <memory>

#include "array/elements.h"
#include "format/hdf5/element_place.h"

namespace chunkwise::hdf5 {

/// `most_bytes` bounds the elements, the copies that the library makes of them, and its chunks.
std::unique_ptr<ElementSource> open_element_source(const ElementPlace& place, std::uint64_t most_bytes);
std::unique_ptr<ElementSink> open_element_sink(const ElementPlace& place, std::uint64_t most_bytes);

/// The fill value of such an array in the form of ArrayMeta::fill.
std::vector<std::byte> read_varying_fill(const Lock& lock, hid_t dcpl, hid_t type);
/// Sets it; nothing for a null one, which is what HDF5 has without being told.
void set_varying_fill(const Lock& lock, hid_t dcpl, hid_t type, const ArrayMeta& meta);

}  // namespace chunkwise::hdf5
