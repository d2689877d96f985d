#include "format/hdf5/scales.h"

#include <algorithm>
#include <cstring>

#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

/// An integer attribute as ints; empty if it is something else.
std::vector<int> read_ids(const Lock& lock, hid_t object, const char* name, std::uint64_t max_bytes) {
  std::vector<int> ids;
  const AttributeValue value = read_attribute(lock, object, name, max_bytes);
  if (value.kind != AttributeValue::Kind::numbers || value.dtype.kind != DType::Kind::int_ || value.dtype.bytes != 4)
    return ids;
  ids.resize(value.data.size() / sizeof(int));
  std::memcpy(ids.data(), value.data.data(), ids.size() * sizeof(int));
  return ids;
}

hid_t reference_entry_type(const Lock& lock) {
  struct Entry {
    hobj_ref_t dataset;
    int dimension;
  };
  constexpr const char* kWhat = "cannot make the type of @REFERENCE_LIST";
  Hid type = owned(lock, H5Tcreate(H5T_COMPOUND, sizeof(Entry)), kWhat, Code::internal);
  checked(lock, H5Tinsert(type.get(), "dataset", offsetof(Entry, dataset), H5T_STD_REF_OBJ), kWhat, Code::internal);
  checked(lock, H5Tinsert(type.get(), "dimension", offsetof(Entry, dimension), H5T_NATIVE_INT), kWhat, Code::internal);
  return type.release();
}

hobj_ref_t make_reference(const Lock& lock, hid_t file, const std::string& path) {
  hobj_ref_t reference = 0;
  checked(lock, H5Rcreate(&reference, file, path.c_str(), H5R_OBJECT, -1), "cannot make a reference to " + path,
          Code::internal);
  return reference;
}

void write_hidden(const Lock& lock, hid_t object, const char* name, hid_t type, const Hid& space, const void* data) {
  const std::string what = std::string("cannot write the attribute @") + name;
  const Hid attribute =
      owned(lock, H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), what, Code::io);
  checked(lock, H5Awrite(attribute.get(), type, data), what, Code::io);
}

Hid list_space(const Lock& lock, std::size_t n) {
  const hsize_t length = n;
  return owned(lock, H5Screate_simple(1, &length, nullptr), "cannot create a dataspace", Code::internal);
}

}  // namespace

haddr_t object_address(const Lock& lock, hid_t object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info1_t info;
  checked(lock, H5Oget_info2(object, &info, H5O_INFO_BASIC), "cannot read an object's address");
#else
  H5O_info_t info;
  checked(lock, H5Oget_info2(object, &info, H5O_INFO_BASIC), "cannot read an object's address");
#endif
  return info.addr;
}

haddr_t referenced_address(const Lock& lock, hid_t file, const hobj_ref_t& reference) {
  if (reference == 0) return HADDR_UNDEF;
  const Hid object(H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference));
  return object ? object_address(lock, object.get()) : HADDR_UNDEF;
}

std::vector<haddr_t> AxisReader::dimension_list(hid_t dataset, int rank) {
  constexpr const char* kWhat = "cannot read the attribute @DIMENSION_LIST";
  std::vector<haddr_t> scales;
  const Hid attribute = owned(lock_, H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), kWhat);
  const Hid type = owned(lock_, H5Aget_type(attribute.get()), kWhat);
  const Hid space = owned(lock_, H5Aget_space(attribute.get()), kWhat);
  if (H5Tget_class(type.get()) != H5T_VLEN || H5Sget_simple_extent_npoints(space.get()) != rank) return scales;
  const Hid base = owned(lock_, H5Tget_super(type.get()), kWhat);
  if (H5Tequal(base.get(), H5T_STD_REF_OBJ) <= 0) return scales;

  std::vector<hvl_t> lists(static_cast<std::size_t>(rank));
  checked(lock_, H5Aread(attribute.get(), type.get(), lists.data()), kWhat);
  for (const hvl_t& list : lists) {
    haddr_t address = HADDR_UNDEF;
    if (list.len > 0 && list.p != nullptr) {
      hobj_ref_t reference = 0;
      std::memcpy(&reference, list.p, sizeof reference);
      address = led_to(reference);
    }
    scales.push_back(address);
  }
  checked(lock_, H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, lists.data()), kWhat);
  return scales;
}

haddr_t AxisReader::led_to(hobj_ref_t reference) {
  const auto [found, is_new] = led_to_.try_emplace(reference, HADDR_UNDEF);
  if (is_new) found->second = referenced_address(lock_, file_.id(), reference);
  return found->second;
}

AxisBooks AxisReader::read(hid_t dataset, int rank, const std::vector<AttributeEntry>& attributes) {
  const std::uint64_t max_bytes = file_.size_bytes();
  const auto has = [&](const char* name) {
    return std::any_of(attributes.begin(), attributes.end(), [name](const auto& entry) { return entry.name == name; });
  };
  AxisBooks books;
  books.is_scale = rank > 0 && has("CLASS") && read_text_attribute(lock_, dataset, "CLASS") == "DIMENSION_SCALE";
  books.is_dimension_only = books.is_scale && rank == 1 && has("NAME") &&
                            read_text_attribute(lock_, dataset, "NAME").starts_with(kDimensionOnly);
  if (has("_Netcdf4Dimid"))
    if (const auto ids = read_ids(lock_, dataset, "_Netcdf4Dimid", max_bytes); ids.size() == 1)
      books.dimension_id = ids.front();
  if (rank == 0) return books;
  if (has("_Netcdf4Coordinates")) books.coordinates = read_ids(lock_, dataset, "_Netcdf4Coordinates", max_bytes);
  if (has("DIMENSION_LIST")) books.scales = dimension_list(dataset, rank);
  if (has("DIMENSION_LABELS")) {
    books.labels = read_attribute(lock_, dataset, "DIMENSION_LABELS", max_bytes).texts;
    if (books.labels.size() != static_cast<std::size_t>(rank)) books.labels.clear();
  }
  return books;
}

bool has_netcdf_marks(const Lock& lock, hid_t dataset, bool root_is_ordered) {
  if (H5Aexists(dataset, "_Netcdf4Dimid") > 0 || H5Aexists(dataset, "_Netcdf4Coordinates") > 0) return true;
  if (H5Aexists(dataset, "CLASS") <= 0) return false;
  return read_text_attribute(lock, dataset, "NAME").starts_with(kDimensionOnly) ||
         (root_is_ordered && read_text_attribute(lock, dataset, "CLASS") == "DIMENSION_SCALE");
}

void write_scale(const Lock& lock, hid_t dataset, const std::string& name) {
  const Hid scalar = owned(lock, H5Screate(H5S_SCALAR), "cannot create a dataspace", Code::internal);
  const auto write = [&](const char* attribute, const std::string& text) {
    const Hid type = make_string_type(lock, text.size() + 1, H5T_STR_NULLTERM, false);
    write_hidden(lock, dataset, attribute, type.get(), scalar, text.c_str());
  };
  write("CLASS", "DIMENSION_SCALE");
  write("NAME", name);
}

void write_dimension_list(const Lock& lock, hid_t file, hid_t dataset, const std::vector<std::string>& scale_paths) {
  std::vector<hobj_ref_t> references(scale_paths.size());
  std::vector<hvl_t> lists(scale_paths.size());
  for (std::size_t axis = 0; axis < scale_paths.size(); ++axis) {
    if (scale_paths[axis].empty()) continue;
    references[axis] = make_reference(lock, file, scale_paths[axis]);
    lists[axis] = {1, &references[axis]};
  }
  const Hid type = owned(lock, H5Tvlen_create(H5T_STD_REF_OBJ), "cannot make a list type", Code::internal);
  write_hidden(lock, dataset, "DIMENSION_LIST", type.get(), list_space(lock, lists.size()), lists.data());
}

void write_reference_list(const Lock& lock, hid_t file, hid_t scale, const std::vector<ScaleUse>& uses) {
  const Hid type(reference_entry_type(lock));
  const std::size_t size = H5Tget_size(type.get());
  const std::size_t axis_at = H5Tget_member_offset(type.get(), 1);
  std::vector<std::byte> entries(uses.size() * size);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const hobj_ref_t reference = make_reference(lock, file, uses[i].path);
    std::memcpy(entries.data() + i * size, &reference, sizeof reference);
    std::memcpy(entries.data() + i * size + axis_at, &uses[i].axis, sizeof uses[i].axis);
  }
  write_hidden(lock, scale, "REFERENCE_LIST", type.get(), list_space(lock, uses.size()), entries.data());
}

void write_ids(const Lock& lock, hid_t object, const char* name, const std::vector<int>& ids, bool is_scalar) {
  const Hid space = is_scalar ? owned(lock, H5Screate(H5S_SCALAR), "cannot create a dataspace", Code::internal)
                              : list_space(lock, ids.size());
  write_hidden(lock, object, name, H5T_NATIVE_INT, space, ids.data());
}

}  // namespace chunkwise::hdf5
