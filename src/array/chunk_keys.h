// The names of chunk objects.
#pragma once

#include <string>

#include "grid/shape.h"

namespace chunkwise {

/// How chunk keys are spelled: "a/b/" + "0.3.1", or "a/b/" + "c/0/3/1".
struct ChunkKeys {
  std::string prefix;    // of the array: "a/b/", or empty at the root
  bool marked = false;   // the indices follow a "c" (Zarr v3 default encoding)
  char separator = '.';  // '.' or '/'

  std::string key(const Shape& coords) const;
};

}  // namespace chunkwise
