#include "format/hdf5/object_map.h"

#include <algorithm>
#include <cstring>

#include "format/hdf5/scales.h"

namespace chunkwise::hdf5 {

ObjectMap::Answer ObjectMap::move(const Lock& lock, ElementForm::Kind kind, std::byte* at) {
  if (kind == ElementForm::Kind::region_reference) return move_region(lock, at);
  hobj_ref_t reference = 0;
  std::memcpy(&reference, at, sizeof reference);
  if (reference == 0) return Answer::empty;
  auto found = moved_.find(reference);
  if (found == moved_.end()) found = moved_.emplace(reference, move_object(lock, reference)).first;
  std::memcpy(at, &found->second.reference, sizeof reference);
  return found->second.answer;
}

ObjectMap::Moved ObjectMap::move_object(const Lock& lock, hobj_ref_t reference) const {
  const haddr_t address = referenced_address(lock, source_file_, reference);
  if (address == HADDR_UNDEF) return {Answer::dangling, 0};
  const auto found = paths_.find(address);
  if (found == paths_.end()) return {Answer::left_out, 0};
  Moved moved{Answer::moved, 0};
  checked(lock, H5Rcreate(&moved.reference, target_file_, found->second.c_str(), H5R_OBJECT, -1),
          "cannot make a reference to " + found->second, Code::internal);
  return moved;
}

ObjectMap::Answer ObjectMap::move_region(const Lock& lock, std::byte* at) const {
  hdset_reg_ref_t reference{};
  std::memcpy(&reference, at, sizeof reference);
  if (std::all_of(at, at + sizeof reference, [](std::byte b) { return b == std::byte{0}; })) return Answer::empty;
  std::fill_n(at, sizeof reference, std::byte{0});
  const Hid object(H5Rdereference2(source_file_, H5P_DEFAULT, H5R_DATASET_REGION, &reference));
  const Hid region(object ? H5Rget_region(source_file_, H5R_DATASET_REGION, &reference) : H5I_INVALID_HID);
  if (!region) {
    static_cast<void>(library_error(lock, {}));
    return Answer::dangling;
  }
  const auto found = paths_.find(object_address(lock, object.get()));
  if (found == paths_.end()) return Answer::left_out;
  checked(lock, H5Rcreate(&reference, target_file_, found->second.c_str(), H5R_DATASET_REGION, region.get()),
          "cannot make a region reference to " + found->second, Code::internal);
  std::memcpy(at, &reference, sizeof reference);
  return Answer::moved;
}

void follow_reference(const Lock& lock, hid_t file, ElementForm::Kind kind, const std::byte* at) {
  const H5R_type_t type = kind == ElementForm::Kind::object_reference ? H5R_OBJECT : H5R_DATASET_REGION;
  hdset_reg_ref_t reference{};
  std::memcpy(&reference, at, type == H5R_OBJECT ? sizeof(hobj_ref_t) : sizeof reference);
  const Hid object(H5Rdereference2(file, H5P_DEFAULT, type, &reference));
  if (object && type == H5R_DATASET_REGION) const Hid region(H5Rget_region(file, type, &reference));
  static_cast<void>(library_error(lock, {}));
}

void move_references(const Lock& lock, const ElementForm& form, std::byte* data, std::size_t n, ObjectMap& objects) {
  visit_references(form, data, n, [&](ElementForm::Kind kind, std::byte* at) {
    if (objects.move(lock, kind, at) == ObjectMap::Answer::left_out)
      throw Error(Code::unsupported, "it refers to an object that is left out",
                  "keep that object, or leave out the one that refers to it as well");
    return Kept::yes;
  });
}

}  // namespace chunkwise::hdf5
