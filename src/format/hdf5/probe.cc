#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.h"
#include "format/hdf5/file.h"
#include "format/hdf5/format.h"
#include "store/store.h"

namespace chunkwise::hdf5 {

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

bool probe(const std::string& path) {
  try {
    return find_signature(*open_file_object(path)).has_value();
  } catch (const Error&) {
    return false;  // a directory, or unreadable: not this format
  }
}

}  // namespace chunkwise::hdf5
