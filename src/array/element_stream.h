// The elements of a chunk as one stream of bytes, as the codecs vlen-utf8, vlen-bytes and vlen-array of Zarr lay them
// out: their number, then the bytes of each behind their number; numbers are little-endian and have four bytes.
#pragma once

#include <span>
#include <vector>

#include "array/elements.h"

namespace chunkwise {

/// The elements of a stream, in its order; they lie in it. Throws Error{corrupt} unless there are exactly `n_elements`
/// of the type: texts in UTF-8, lists of whole items.
void split_elements(ByteView stream, const DType& dtype, std::size_t n_elements, std::vector<ElementView>& elements);

/// How long the stream of these elements is. Throws Error{unsupported} if their number, or that of the bytes of one,
/// is above 2^32-1.
std::uint64_t stream_bytes(std::span<const ElementView> elements);
/// Makes it. A null element becomes an empty one.
void join_elements(std::span<const ElementView> elements, Bytes& stream);

}  // namespace chunkwise
