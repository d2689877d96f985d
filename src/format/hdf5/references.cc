#include "format/hdf5/references.h"

#include <cstring>

#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

Kept visit_one(const ReferenceVisitor& visit, std::byte* at) {
  hobj_ref_t reference = 0;
  std::memcpy(&reference, at, sizeof reference);
  const Kept kept = visit(reference);
  std::memcpy(at, &reference, sizeof reference);
  return kept;
}

void visit_list(const Lock& lock, hid_t base, std::byte* at, const ReferenceVisitor& visit) {
  hvl_t list{};
  std::memcpy(&list, at, sizeof list);
  if (list.len == 0 || list.p == nullptr) return;
  auto* const data = static_cast<std::byte*>(list.p);
  if (H5Tequal(base, H5T_STD_REF_OBJ) <= 0) return visit_references(lock, base, data, list.len, visit);
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < list.len; ++i) {
    std::byte* const element = data + i * sizeof(hobj_ref_t);
    if (visit_one(visit, element) == Kept::no) continue;
    std::memmove(data + n_kept * sizeof(hobj_ref_t), element, sizeof(hobj_ref_t));
    ++n_kept;
  }
  list.len = n_kept;
  if (n_kept == 0) {  // the library frees only lists that have elements
    H5free_memory(list.p);
    list.p = nullptr;
  }
  std::memcpy(at, &list, sizeof list);
}

void visit_members(const Lock& lock, hid_t type, std::byte* at, const ReferenceVisitor& visit) {
  const int n_members = checked(lock, H5Tget_nmembers(type), "cannot read a compound type");
  for (unsigned i = 0; i < static_cast<unsigned>(n_members); ++i) {
    const Hid member = owned(lock, H5Tget_member_type(type, i), "cannot read a member type");
    visit_references(lock, member.get(), at + H5Tget_member_offset(type, i), 1, visit);
  }
}

}  // namespace

bool holds_references(const Lock& lock, hid_t type) {
  return checked(lock, H5Tdetect_class(type, H5T_REFERENCE), "cannot read a datatype") > 0;
}

void visit_references(const Lock& lock, hid_t type, std::byte* data, std::size_t n, const ReferenceVisitor& visit) {
  if (!holds_references(lock, type)) return;
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_REFERENCE && H5Tequal(type, H5T_STD_REF_OBJ) <= 0)
    throw Error(Code::unsupported, "region references cannot be kept",
                "leave the object out with --exclude, or remove the attribute from the source");
  const std::size_t size_bytes = H5Tget_size(type);
  Hid base;
  if (kind == H5T_VLEN || kind == H5T_ARRAY) base = owned(lock, H5Tget_super(type), "cannot read a base type");
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* const at = data + i * size_bytes;
    switch (kind) {
      case H5T_REFERENCE:
        visit_one(visit, at);
        break;
      case H5T_VLEN:
        visit_list(lock, base.get(), at, visit);
        break;
      case H5T_ARRAY:
        visit_references(lock, base.get(), at, size_bytes / H5Tget_size(base.get()), visit);
        break;
      case H5T_COMPOUND:
        visit_members(lock, type, at, visit);
        break;
      default:
        break;
    }
  }
}

}  // namespace chunkwise::hdf5
