// One object of a zip file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/store.h"
#include "store/zip_index.h"

namespace chunkwise {

/// The object of an entry. Stored ones are ranges of the file; deflated ones are decoded from their start, as far as
/// they are asked for, through small buffers: reading on where the last read ended costs nothing more. Throws
/// Error{unsupported} for other methods, Error{corrupt} if the file's own header says something else.
std::unique_ptr<Object> open_zip_object(std::shared_ptr<const Object> file, const ZipIndex& index,
                                        const ZipEntry& entry);

}  // namespace chunkwise
