#include "base/error.h"
#include "format/hdf5/file.h"
#include "format/hdf5/format.h"
#include "store/store.h"

namespace chunkwise::hdf5 {

bool probe(const std::string& path) {
  try {
    return find_signature(*open_file_object(path)).has_value();
  } catch (const Error&) {
    return false;  // a directory, or unreadable: not this format
  }
}

}  // namespace chunkwise::hdf5
