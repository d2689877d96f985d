// What classic files tell beside the neutral model.
#pragma once

#include "array/attribute.h"

namespace chunkwise::netcdf3 {

/// Of a hierarchy that was read from a classic file.
struct FileNative : Native {
  int version = 1;
};

/// Of an array that is about to be written.
struct ArrayNative : Native {
  /// Some of its elements were never written in the source, so nobody will write them here.
  bool has_gaps = false;
};

}  // namespace chunkwise::netcdf3
