#include "format/hdf5/shared_messages.h"

#include <array>
#include <vector>

#include "format/hdf5/element_form.h"

namespace chunkwise::hdf5 {
namespace {

/// H5Pencode got a further parameter with 1.12; the older form still has a name there.
herr_t encode_list(hid_t list, void* encoded, std::size_t* size_bytes) {
#if H5_VERSION_GE(1, 12, 0)
  return H5Pencode1(list, encoded, size_bytes);
#else
  return H5Pencode(list, encoded, size_bytes);
#endif
}

/// Through the library's own encoded form, which says all but where it was stored.
template <typename Encode, typename Decode>
Hid through_bytes(const Lock& lock, hid_t id, const Encode& encode, const Decode& decode, const char* what) {
  std::size_t size_bytes = 0;
  checked(lock, encode(id, nullptr, &size_bytes), what);
  std::vector<unsigned char> bytes(size_bytes);
  checked(lock, encode(id, bytes.data(), &size_bytes), what);
  return owned(lock, decode(bytes.data()), what);
}

}  // namespace

bool shares_messages(const Lock& lock, hid_t file) {
  constexpr const char* kWhat = "cannot read the file's properties";
  const Hid fcpl = owned(lock, H5Fget_create_plist(file), kWhat);
  unsigned n_indexes = 0;
  checked(lock, H5Pget_shared_mesg_nindexes(fcpl.get(), &n_indexes), kWhat);
  return n_indexes > 0;
}

Hid fresh_space(const Lock& lock, hid_t space) {
  constexpr const char* kReading = "cannot read a dataspace";
  constexpr const char* kMaking = "cannot create a dataspace";
  const H5S_class_t kind = checked(lock, H5Sget_simple_extent_type(space), kReading);
  if (kind != H5S_SIMPLE) return owned(lock, H5Screate(kind), kMaking, Code::internal);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  std::array<hsize_t, H5S_MAX_RANK> max_dims{};
  const int rank = checked(lock, H5Sget_simple_extent_dims(space, dims.data(), max_dims.data()), kReading);
  return owned(lock, H5Screate_simple(rank, dims.data(), max_dims.data()), kMaking, Code::internal);
}

Hid fresh_type(const Lock& lock, hid_t type) {
  return through_bytes(
      lock, type, H5Tencode, [](const void* bytes) { return H5Tdecode(bytes); }, "cannot copy a datatype");
}

Hid fresh_creation_list(const Lock& lock, hid_t dcpl, hid_t type) {
  constexpr const char* kWhat = "cannot copy the creation properties of a dataset";
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(lock, H5Pfill_value_defined(dcpl, &defined), kWhat);
  if (defined == H5D_FILL_VALUE_USER_DEFINED && memory_form(lock, type).form.has_lists)
    throw Error(Code::unsupported,
                "a fill value with lists or texts of variable length cannot be kept in a file that shares messages",
                "leave the dataset out with --exclude");
  Hid list = through_bytes(
      lock, dcpl, encode_list, [](const void* bytes) { return H5Pdecode(bytes); }, kWhat);
  if (checked(lock, H5Pget_layout(dcpl), kWhat) == H5D_CHUNKED) {
    // The encoded form leaves these out.
    unsigned options = 0;
    checked(lock, H5Pget_chunk_opts(dcpl, &options), kWhat);
    checked(lock, H5Pset_chunk_opts(list.get(), options), kWhat);
  }
  return list;
}

}  // namespace chunkwise::hdf5
