#include <algorithm>
#include <array>

#include "format/hdf5/file.h"
#include "format/hdf5/format.h"
#include "format/hdf5/scales.h"
#include "store/store.h"

namespace chunkwise::hdf5 {
namespace {

constexpr std::array<unsigned char, 8> kSignature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool has_signature(const std::string& path) {
  const std::unique_ptr<Object> object = open_file_object(path);
  const std::uint64_t size_bytes = object->size_bytes();
  // The format starts at 0, or at 512 and every doubling of it.
  for (std::uint64_t at = 0; at <= size_bytes && size_bytes - at >= kSignature.size(); at = at == 0 ? 512 : 2 * at) {
    std::array<unsigned char, kSignature.size()> found{};
    object->read(at, std::as_writable_bytes(std::span(found)));
    if (found == kSignature) return true;
    if (at > size_bytes / 2) break;
  }
  return false;
}

}  // namespace

bool probe_h5(const std::string& path) {
  try {
    return has_signature(path);
  } catch (const Error&) {
    return false;  // a directory, or unreadable: not this format
  }
}

bool probe_nc4(const std::string& path) {
  if (!probe_h5(path)) return false;
  try {
    const std::shared_ptr<File> file = File::open(path);
    const Lock lock;
    return has_netcdf_marks(lock, file->id());
  } catch (const Error&) {
    return false;  // a damaged HDF5 file: opening it will say what is wrong
  }
}

}  // namespace chunkwise::hdf5
