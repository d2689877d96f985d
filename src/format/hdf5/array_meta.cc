#include "format/hdf5/array_meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "format/hdf5/element_access.h"
#include "format/hdf5/elsewhere.h"
#include "format/hdf5/pipeline.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/source.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

Index to_index(hsize_t length, const char* what) {
  if (length > static_cast<hsize_t>(INT64_MAX)) throw Error(Code::corrupt, fmt::format("{} passes 2^63", what));
  return static_cast<Index>(length);
}

void read_extent(const Lock& lock, hid_t dataset, DatasetShape& result) {
  const Hid space = owned(lock, H5Dget_space(dataset), "cannot read the dataspace");
  ArrayMeta& meta = result.meta;
  if (checked(lock, H5Sget_simple_extent_type(space.get()), "cannot read the dataspace") == H5S_NULL) {
    result.null_space = true;
    meta.shape = meta.max_shape = Shape{0};
    return;
  }
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> maxdims{};
  const int rank =
      checked(lock, H5Sget_simple_extent_dims(space.get(), dims.data(), maxdims.data()), "cannot read the dataspace");
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    meta.shape.push_back(to_index(dims[at], "an extent"));
    meta.max_shape.push_back(maxdims[at] == H5S_UNLIMITED ? kUnlimited : to_index(maxdims[at], "a maximum extent"));
  }
}

void read_layout(const Lock& lock, hid_t dcpl, ArrayMeta& meta) {
  meta.pads_edges = false;
  const H5D_layout_t layout = checked(lock, H5Pget_layout(dcpl), "cannot read the layout");
  if (layout == H5D_CHUNKED) {
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const int rank = checked(lock, H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk.data()), "cannot read the chunk shape");
    if (rank != meta.shape.rank())
      throw Error(Code::corrupt, fmt::format("chunks have {} axes, the array {}", rank, meta.shape.rank()));
    for (int i = 0; i < rank; ++i) meta.chunk.push_back(to_index(chunk[static_cast<std::size_t>(i)], "a chunk length"));
    if (std::any_of(meta.chunk.begin(), meta.chunk.end(), [](Index n) { return n < 1; }))
      throw Error(Code::corrupt, "a chunk length is zero");
    unsigned options = 0;
    checked(lock, H5Pget_chunk_opts(dcpl, &options), "cannot read the chunk options");
    meta.raw_edges = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
    meta.storage = Storage::chunked;
    meta.pads_edges = true;
    meta.codecs = read_filters(lock, dcpl, meta.dtype.refers);
    return;
  }
  meta.storage = layout == H5D_COMPACT ? Storage::compact : Storage::contiguous;
  meta.chunk = linear_chunk(meta.shape, std::max<std::size_t>(meta.dtype.bytes, 1));
  if (layout == H5D_VIRTUAL) meta.storage = Storage::virtual_;
}

void read_fill(const Lock& lock, hid_t dcpl, hid_t type, ArrayMeta& meta) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(lock, H5Pfill_value_defined(dcpl, &defined), "cannot read the fill value");
  // Never filling (netCDF's no-fill) means that what was not written is undefined, whatever value is set.
  H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
  checked(lock, H5Pget_fill_time(dcpl, &time), "cannot read the fill value");
  if (time == H5D_FILL_TIME_NEVER) defined = H5D_FILL_VALUE_UNDEFINED;
  if (defined == H5D_FILL_VALUE_UNDEFINED) return;
  if (meta.dtype.is_varying()) {
    if (defined == H5D_FILL_VALUE_USER_DEFINED) meta.fill = read_varying_fill(lock, dcpl, type);
    return;
  }
  meta.fill.assign(meta.dtype.bytes, std::byte{0});
  if (defined == H5D_FILL_VALUE_USER_DEFINED)
    checked(lock, H5Pget_fill_value(dcpl, type, meta.fill.data()), "cannot read the fill value");
}

/// Size of an address in the file.
std::size_t address_bytes(const Lock& lock, hid_t dataset) {
  constexpr const char* kWhat = "cannot read the file's properties";
  const Hid file = owned(lock, H5Iget_file_id(dataset), kWhat);
  const Hid fcpl = owned(lock, H5Fget_create_plist(file.get()), kWhat);
  std::size_t bytes = 0;
  std::size_t length_bytes = 0;
  checked(lock, H5Pget_sizes(fcpl.get(), &bytes, &length_bytes), kWhat);
  return bytes;
}

}  // namespace

DatasetShape read_array_meta(const Lock& lock, hid_t dataset, const Hid& dcpl, const std::string& path) {
  try {
    DatasetShape result;
    ArrayMeta& meta = result.meta;
    meta.path = path;
    const Hid type = owned(lock, H5Dget_type(dataset), "cannot read the datatype");
    ElementType element = element_type(lock, type.get());
    if (checked(lock, H5Tcommitted(type.get()), "cannot read the datatype") > 0)
      result.type_address = object_address(lock, type.get());
    meta.dtype = std::move(element.dtype);
    meta.layout.byte_order = element.byte_order;
    if (meta.dtype.refers) meta.dtype.bytes = stored_element_bytes(lock, type.get(), address_bytes(lock, dataset));
    read_extent(lock, dataset, result);
    read_layout(lock, dcpl.get(), meta);
    result.other_files = other_files(lock, dcpl.get());
    if (meta.dtype.kind == DType::Kind::string) meta.ascii_texts = H5Tget_cset(type.get()) == H5T_CSET_ASCII;
    // Other fill values that refer are copied with the creation list and mean nothing to others.
    if (!meta.dtype.refers || meta.dtype.is_varying()) read_fill(lock, dcpl.get(), type.get(), meta);
    count_stored(lock, dataset, meta);
    return result;
  } catch (Error& error) {
    throw error.in(path);
  }
}

}  // namespace chunkwise::hdf5
