#include "format/hdf5/reference_fill.h"

#include <algorithm>
#include <vector>

#include "format/hdf5/element_form.h"

namespace chunkwise::hdf5 {

bool has_reference_fill(const Lock& lock, const File& file, const std::string& path) {
  const std::string what = "cannot read the fill value of " + path;
  const Hid dataset = owned(lock, H5Dopen2(file.id(), path.c_str(), H5P_DEFAULT), what);
  const Hid type = owned(lock, H5Dget_type(dataset.get()), what);
  const MemoryForm form = memory_form(lock, type.get());
  if (!form.form.has_references) return false;
  const Hid dcpl = owned(lock, H5Dget_create_plist(dataset.get()), what);
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  checked(lock, H5Pfill_value_defined(dcpl.get(), &defined), what);
  if (defined != H5D_FILL_VALUE_USER_DEFINED) return false;
  std::vector<std::byte> fill(form.form.size_bytes);
  checked(lock, H5Pget_fill_value(dcpl.get(), form.type.get(), fill.data()), what);
  bool found = false;
  visit_references(form.form, fill.data(), 1, [&](ElementForm::Kind kind, const std::byte* at) {
    const std::size_t n_bytes =
        kind == ElementForm::Kind::object_reference ? sizeof(hobj_ref_t) : sizeof(hdset_reg_ref_t);
    found = found || std::any_of(at, at + n_bytes, [](std::byte b) { return b != std::byte{0}; });
    return Kept::yes;
  });
  if (form.form.has_lists) {
    const Hid space = owned(lock, H5Screate(H5S_SCALAR), what, Code::internal);
    checked(lock, H5Dvlen_reclaim(form.type.get(), space.get(), H5P_DEFAULT, fill.data()), what);
  }
  return found;
}

}  // namespace chunkwise::hdf5
