// The elements of a variable of a classic file.
#pragma once

#include <memory>
#include <string>

#include "array/source.h"
#include "format/netcdf3/header.h"
#include "store/store.h"

namespace chunkwise::netcdf3 {

/// Calls use(address, offset, n_bytes) for every piece of the run of `size_bytes` bytes from `offset_bytes` of the
/// variable's elements in C order; `offset` counts from the start of the run.
template <typename Use>
void for_each_piece(const Place& place, std::uint64_t offset_bytes, std::uint64_t size_bytes, Use use) {
  for (std::uint64_t done = 0; done < size_bytes;) {
    const std::uint64_t at = offset_bytes + done;
    // Slabs without anything between them are one.
    const bool is_dense = place.stride_bytes == place.slab_bytes;
    const std::uint64_t slab = is_dense ? 0 : at / place.slab_bytes;
    const std::uint64_t inner = at - slab * place.slab_bytes;
    const std::uint64_t n_bytes = is_dense ? size_bytes : std::min(size_bytes - done, place.slab_bytes - inner);
    use(place.begin_bytes + slab * place.stride_bytes + inner, done, n_bytes);
    done += n_bytes;
  }
}

/// `meta` is contiguous and describes the variable at `place`. Throws Error{corrupt} naming the first record that the
/// file does not hold.
std::unique_ptr<ArraySource> make_source(std::shared_ptr<const Object> file, const std::string& path, ArrayMeta meta,
                                         const Place& place);

}  // namespace chunkwise::netcdf3
