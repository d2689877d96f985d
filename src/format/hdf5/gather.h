// Many byte ranges of a file in few requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "store/store.h"

namespace chunkwise::hdf5 {

struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::size_t slot = 0;  // the caller's number for it
};

/// Reads `ranges` into `block`, in address order; neighbours become one request if at most 64 KiB lie between them and
/// all such gaps together stay within 1/8 of the bytes asked for. Sorts `ranges`; result[i] views ranges[i]. Ranges
/// must lie inside the object, and may overlap. Thread-safe. Throws what Object::read throws.
std::vector<ByteView> gather(const Object& object, std::vector<ByteRange>& ranges, Bytes& block);

}  // namespace chunkwise::hdf5
