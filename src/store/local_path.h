// Paths as users write them.
#pragma once

#include <string>

namespace chunkwise {

/// "file:///data/a%20b.zarr" and "file://localhost/..." -> "/data/a b.zarr"; other texts are paths as they are. Throws
/// Error{usage} for URLs of other hosts, with a query or a fragment, or with broken escapes.
std::string local_path(const std::string& text);

}  // namespace chunkwise
