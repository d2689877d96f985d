#include "format/hdf5/linear_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "format/hdf5/source.h"

namespace chunkwise::hdf5 {
namespace {

constexpr Index kRunBytes = Index{1} << 20;

}  // namespace

LinearRange linear_range(const ChunkGrid& grid, ChunkId id, std::size_t element_bytes) {
  const Box box = grid.box(id);
  std::uint64_t first = 0;
  std::uint64_t count = 1;
  for (int axis = 0; axis < box.shape.rank(); ++axis) {
    first = first * static_cast<std::uint64_t>(grid.array()[axis]) + static_cast<std::uint64_t>(box.origin[axis]);
    count *= static_cast<std::uint64_t>(box.shape[axis]);
  }
  return {first * element_bytes, count * element_bytes};
}

std::uint64_t linear_bytes(const ArrayMeta& meta) {
  const auto elements = checked_product(meta.shape);
  const auto bytes = elements ? checked_mul(*elements, static_cast<Index>(meta.dtype.bytes)) : std::nullopt;
  if (!bytes) throw Error(Code::corrupt, fmt::format("{} has more than 2^63 bytes", meta.path));
  return static_cast<std::uint64_t>(*bytes);
}

void check_linear(const ArrayMeta& meta) {
  CHUNKWISE_CHECK(meta.codecs.empty() && !meta.pads_edges && meta.chunk.rank() == meta.shape.rank());
  int axis = 0;
  while (axis < meta.shape.rank() && meta.chunk[axis] == 1) ++axis;
  for (++axis; axis < meta.shape.rank(); ++axis) CHUNKWISE_CHECK(meta.chunk[axis] >= meta.shape[axis]);
}

Shape linear_chunk(const Shape& shape, std::size_t element_bytes) {
  Shape chunk = Shape::filled(shape.rank(), 1);
  Index run_bytes = std::max<Index>(1, static_cast<Index>(element_bytes));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const Index length = std::max<Index>(1, shape[axis]);
    const Index fits = std::max<Index>(1, kRunBytes / run_bytes);
    if (length > fits) {
      chunk[axis] = fits;
      break;
    }
    chunk[axis] = length;
    run_bytes *= length;
  }
  return chunk;
}

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
