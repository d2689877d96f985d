#include "format/hdf5/linear_layout.h"

#include <fmt/format.h>

namespace chunkwise::hdf5 {

std::uint64_t storage_bytes(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const hsize_t size_bytes = H5Dget_storage_size(dataset);
  if (size_bytes == 0 && H5Eget_num(H5E_DEFAULT) > 0) {
    throw library_error(lock, fmt::format("cannot tell the stored size of {}", meta.path));
  }
  return size_bytes;
}

std::optional<std::uint64_t> contiguous_address(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  // Asked first: 1.10.8 adds the user block even to "undefined".
  if (storage_bytes(lock, dataset, meta) == 0) return std::nullopt;
  const haddr_t address = H5Dget_offset(dataset);
  if (address != HADDR_UNDEF) return address;
  if (H5Eget_num(H5E_DEFAULT) > 0) throw library_error(lock, fmt::format("cannot locate {}", meta.path));
  return std::nullopt;
}

Hid plain_type(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const std::string what = fmt::format("cannot tell the type of {}", meta.path);
  Hid type = owned(lock, H5Dget_type(dataset), what);
  const bool points_away = checked(lock, H5Tdetect_class(type.get(), H5T_VLEN), what) > 0 ||
                           checked(lock, H5Tdetect_class(type.get(), H5T_REFERENCE), what) > 0 ||
                           checked(lock, H5Tis_variable_str(type.get()), what) > 0;
  if (points_away || meta.dtype.bytes == 0) {
    throw Error(
        Code::unsupported,
        fmt::format("the elements of {} are of variable length or references: their bytes mean nothing elsewhere",
                    meta.path));
  }
  CHUNKWISE_CHECK(H5Tget_size(type.get()) == meta.dtype.bytes);
  return type;
}

}  // namespace chunkwise::hdf5
