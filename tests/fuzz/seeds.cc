#include "seeds.h"

#include <hdf5.h>

#include <array>
#include <numeric>

namespace chunkwise::fuzz {
namespace {

void add_text(hid_t object, const char* name, const char* text) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, &text);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

void add_references(hid_t file, hid_t object, const char* to) {
  hobj_ref_t reference{};
  H5Rcreate(&reference, file, to, H5R_OBJECT, -1);
  hvl_t list{1, &reference};
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const hid_t attribute = H5Acreate2(object, "refers", type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, &list);
  H5Aclose(attribute);
  H5Tclose(type);
  H5Sclose(space);
}

void add_dataset(hid_t group, const char* name, hsize_t max_rows, hsize_t max_columns, bool deflated, bool chunked) {
  const std::array<hsize_t, 2> shape = {20, 12};
  const std::array<hsize_t, 2> most = {max_rows, max_columns};
  const std::array<hsize_t, 2> chunk = {6, 5};
  std::array<int, 240> values{};
  std::iota(values.begin(), values.end(), 0);
  const hid_t space = H5Screate_simple(2, shape.data(), chunked ? most.data() : nullptr);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(list, 0);  // the same bytes every time
  if (chunked) H5Pset_chunk(list, 2, chunk.data());
  if (deflated) H5Pset_deflate(list, 1);
  const hid_t dataset = H5Dcreate2(group, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  add_text(dataset, "units", "metres per second");
  H5Dclose(dataset);
  H5Pclose(list);
  H5Sclose(space);
}

void make(const std::string& path, H5F_libver_t low) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  add_text(file, "title", "a file to damage");
  const hid_t timeless = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(timeless, 0);
  const hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, timeless, H5P_DEFAULT);
  H5Pclose(timeless);
  add_dataset(file, "fixed", 20, 12, true, true);
  add_dataset(file, "growing", H5S_UNLIMITED, 12, true, true);
  add_dataset(group, "growing_both", H5S_UNLIMITED, H5S_UNLIMITED, false, true);
  add_dataset(group, "contiguous", 20, 12, false, false);
  add_references(file, group, "/fixed");
  H5Lcreate_soft("/fixed", group, "soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Fclose(file);
  H5Pclose(access);
}

}  // namespace

std::vector<std::string> make_seeds(const std::string& folder) {
  const std::vector<std::string> paths = {folder + "/earliest.h5", folder + "/v18.h5", folder + "/latest.h5"};
  make(paths[0], H5F_LIBVER_EARLIEST);
  make(paths[1], H5F_LIBVER_V18);
  make(paths[2], H5F_LIBVER_LATEST);
  return paths;
}

}  // namespace chunkwise::fuzz
