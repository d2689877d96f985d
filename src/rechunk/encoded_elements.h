// Elements of any length in encoded chunks: each chunk is a stream of all its elements (array/element_stream.h).
#pragma once

#include <memory>

#include "array/dataset.h"

namespace chunkwise {

/// The elements of array `path`: as its format reads them, or decoded from its chunks. The last chunk decoded is kept.
/// `most_bytes` bounds all of it. A chunk that does not fit is Error{budget}.
std::unique_ptr<ElementSource> open_element_source(const Reader& reader, const std::string& path,
                                                   std::uint64_t most_bytes);

/// The same for writing. What is written can be read back with half of `most_bytes`.
std::unique_ptr<ElementSink> open_element_sink(Writer& writer, const ArrayMeta& target, std::uint64_t most_bytes);

}  // namespace chunkwise
