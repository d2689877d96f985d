#include "format/hdf5/element_form.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace chunkwise::hdf5 {
namespace {

constexpr const char* kReading = "cannot read a datatype";
constexpr const char* kMaking = "cannot make a type for reading";

Hid base_of(const Lock& lock, hid_t type) {
  return owned(lock, H5Tget_super(type), kReading);
}

std::unique_ptr<ElementForm> own(ElementForm&& form) {
  return std::make_unique<ElementForm>(std::move(form));
}

std::size_t aligned(std::size_t offset_bytes) {
  return (offset_bytes + alignof(hvl_t) - 1) / alignof(hvl_t) * alignof(hvl_t);
}

MemoryForm plain_form(const Lock& lock, hid_t type) {
  MemoryForm result;
  result.type = owned(lock, H5Tcopy(type), kReading);
  result.form.size_bytes = H5Tget_size(type);
  return result;
}

MemoryForm reference_form(const Lock& lock, hid_t type) {
  MemoryForm result = plain_form(lock, type);
  result.form.has_references = true;
  if (H5Tequal(type, H5T_STD_REF_OBJ) > 0)
    result.form.kind = ElementForm::Kind::object_reference;
  else if (H5Tequal(type, H5T_STD_REF_DSETREG) > 0)
    result.form.kind = ElementForm::Kind::region_reference;
  else
    throw Error(Code::unsupported, "references of an unknown kind cannot be kept",
                "leave the object out with --exclude");
  return result;
}

MemoryForm list_form(const Lock& lock, MemoryForm&& base) {
  MemoryForm result;
  result.type = owned(lock, H5Tvlen_create(base.type.get()), kMaking, Code::internal);
  result.form.kind = ElementForm::Kind::list;
  result.form.size_bytes = sizeof(hvl_t);
  result.form.has_lists = true;
  result.form.has_references = base.form.has_references;
  result.form.has_texts = base.form.has_texts;
  result.form.base = own(std::move(base.form));
  return result;
}

MemoryForm text_form(const Lock& lock, hid_t type) {
  MemoryForm result;
  result.type = owned(lock, H5Tcopy(type), kReading);
  result.form.kind = ElementForm::Kind::text;
  result.form.size_bytes = sizeof(char*);
  result.form.has_lists = true;
  result.form.has_texts = true;
  return result;
}

MemoryForm array_form(const Lock& lock, hid_t type, Texts texts) {
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = checked(lock, H5Tget_array_dims2(type, dims.data()), kReading);
  MemoryForm base = memory_form(lock, base_of(lock, type).get(), texts);
  MemoryForm result;
  result.type =
      owned(lock, H5Tarray_create2(base.type.get(), static_cast<unsigned>(rank), dims.data()), kMaking, Code::internal);
  result.form.kind = ElementForm::Kind::array;
  result.form.size_bytes = H5Tget_size(result.type.get());
  result.form.n_base = result.form.size_bytes / std::max<std::size_t>(base.form.size_bytes, 1);
  result.form.has_lists = base.form.has_lists;
  result.form.has_texts = base.form.has_texts;
  result.form.has_references = base.form.has_references;
  result.form.base = own(std::move(base.form));
  return result;
}

struct NameDeleter {
  void operator()(char* name) const { H5free_memory(name); }
};

MemoryForm compound_form(const Lock& lock, hid_t type, Texts texts) {
  MemoryForm result;
  result.form.kind = ElementForm::Kind::compound;
  const auto n_members = static_cast<unsigned>(checked(lock, H5Tget_nmembers(type), kReading));
  std::vector<MemoryForm> members;
  std::size_t end_bytes = 0;
  for (unsigned i = 0; i < n_members; ++i) {
    const Hid member = owned(lock, H5Tget_member_type(type, i), kReading);
    members.push_back(memory_form(lock, member.get(), texts));
    const ElementForm& form = members.back().form;
    result.form.has_lists |= form.has_lists;
    result.form.has_texts |= form.has_texts;
    result.form.has_references |= form.has_references;
    end_bytes = aligned(end_bytes) + form.size_bytes;
  }
  // Without lists the bytes of the file are what is wanted, with the gaps between members.
  const bool rebuilds = result.form.has_lists;
  result.form.size_bytes = rebuilds ? aligned(end_bytes) : H5Tget_size(type);
  result.type = rebuilds ? owned(lock, H5Tcreate(H5T_COMPOUND, result.form.size_bytes), kMaking, Code::internal)
                         : owned(lock, H5Tcopy(type), kReading);
  std::size_t offset_bytes = 0;
  for (unsigned i = 0; i < n_members; ++i) {
    offset_bytes = rebuilds ? aligned(offset_bytes) : H5Tget_member_offset(type, i);
    if (rebuilds) {
      const std::unique_ptr<char, NameDeleter> name(H5Tget_member_name(type, i));
      if (!name) throw library_error(lock, kReading);
      checked(lock, H5Tinsert(result.type.get(), name.get(), offset_bytes, members[i].type.get()), kMaking,
              Code::internal);
    }
    const std::size_t size_bytes = members[i].form.size_bytes;
    result.form.members.push_back({offset_bytes, own(std::move(members[i].form))});
    offset_bytes += size_bytes;
  }
  return result;
}

void visit_list(const ElementForm& form, std::byte* at, const ReferenceVisitor& visit) {
  hvl_t list{};
  std::memcpy(&list, at, sizeof list);
  if (list.len == 0 || list.p == nullptr) return;
  auto* const data = static_cast<std::byte*>(list.p);
  const ElementForm& base = *form.base;
  if (base.kind != ElementForm::Kind::object_reference && base.kind != ElementForm::Kind::region_reference)
    return visit_references(base, data, list.len, visit);
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < list.len; ++i) {
    std::byte* const element = data + i * base.size_bytes;
    if (visit(base.kind, element) == Kept::no) continue;
    std::memmove(data + n_kept * base.size_bytes, element, base.size_bytes);
    ++n_kept;
  }
  if (n_kept == list.len) return;
  list.len = n_kept;
  if (n_kept == 0) {  // the library frees only lists that have elements
    H5free_memory(list.p);
    list.p = nullptr;
  }
  std::memcpy(at, &list, sizeof list);
}

bool equal_lists(const ElementForm& form, const std::byte* a, const std::byte* b, const SameReference& same) {
  hvl_t x{};
  hvl_t y{};
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (x.len != y.len) return false;
  const auto* p = static_cast<const std::byte*>(x.p);
  const auto* q = static_cast<const std::byte*>(y.p);
  const std::size_t size_bytes = form.base->size_bytes;
  if (form.base->kind == ElementForm::Kind::plain) return x.len == 0 || std::memcmp(p, q, x.len * size_bytes) == 0;
  for (std::size_t i = 0; i < x.len; ++i)
    if (!equal_elements(*form.base, p + i * size_bytes, q + i * size_bytes, same)) return false;
  return true;
}

}  // namespace

MemoryForm memory_form(const Lock& lock, hid_t type, Texts texts) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (H5Tis_variable_str(type) <= 0) return plain_form(lock, type);
      return texts == Texts::as_texts ? text_form(lock, type) : list_form(lock, plain_form(lock, H5T_NATIVE_UCHAR));
    case H5T_VLEN:
      return list_form(lock, memory_form(lock, base_of(lock, type).get(), texts));
    case H5T_REFERENCE:
      return reference_form(lock, type);
    case H5T_ARRAY:
      return array_form(lock, type, texts);
    case H5T_COMPOUND:
      return compound_form(lock, type, texts);
    default:
      return plain_form(lock, type);
  }
}

void visit_references(const ElementForm& form, std::byte* data, std::size_t n, const ReferenceVisitor& visit) {
  if (!form.has_references) return;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* const at = data + i * form.size_bytes;
    switch (form.kind) {
      case ElementForm::Kind::object_reference:
      case ElementForm::Kind::region_reference:
        visit(form.kind, at);
        break;
      case ElementForm::Kind::list:
        visit_list(form, at, visit);
        break;
      case ElementForm::Kind::array:
        visit_references(*form.base, at, form.n_base, visit);
        break;
      case ElementForm::Kind::compound:
        for (const ElementForm::Member& member : form.members)
          visit_references(*member.form, at + member.offset_bytes, 1, visit);
        break;
      case ElementForm::Kind::plain:
      case ElementForm::Kind::text:
        break;
    }
  }
}

void look_at_texts(const ElementForm& lists, const std::byte* as_lists, const ElementForm& texts,
                   const std::byte* as_texts, std::size_t n, TextFacts& facts) {
  if (!texts.has_texts) return;
  for (std::size_t i = 0; i < n; ++i) {
    const std::byte* const a = as_lists + i * lists.size_bytes;
    const std::byte* const b = as_texts + i * texts.size_bytes;
    switch (texts.kind) {
      case ElementForm::Kind::text: {
        hvl_t list{};
        const char* text = nullptr;
        std::memcpy(&list, a, sizeof list);
        std::memcpy(&text, b, sizeof text);
        if (text != nullptr && list.len == 0) facts.any_empty = true;
        if (text != nullptr && std::strlen(text) != list.len) facts.any_zero_byte = true;
        break;
      }
      case ElementForm::Kind::list: {
        hvl_t x{};
        hvl_t y{};
        std::memcpy(&x, a, sizeof x);
        std::memcpy(&y, b, sizeof y);
        look_at_texts(*lists.base, static_cast<const std::byte*>(x.p), *texts.base, static_cast<const std::byte*>(y.p),
                      std::min(x.len, y.len), facts);
        break;
      }
      case ElementForm::Kind::array:
        look_at_texts(*lists.base, a, *texts.base, b, texts.n_base, facts);
        break;
      case ElementForm::Kind::compound:
        for (std::size_t m = 0; m < texts.members.size(); ++m)
          look_at_texts(*lists.members[m].form, a + lists.members[m].offset_bytes, *texts.members[m].form,
                        b + texts.members[m].offset_bytes, 1, facts);
        break;
      default:
        break;
    }
  }
}

bool equal_elements(const ElementForm& form, const std::byte* a, const std::byte* b, const SameReference& same) {
  switch (form.kind) {
    case ElementForm::Kind::plain:
      return std::memcmp(a, b, form.size_bytes) == 0;
    case ElementForm::Kind::object_reference:
    case ElementForm::Kind::region_reference:
      return same(form.kind, a, b);
    case ElementForm::Kind::list:
      return equal_lists(form, a, b, same);
    case ElementForm::Kind::text: {
      const char* x = nullptr;
      const char* y = nullptr;
      std::memcpy(&x, a, sizeof x);
      std::memcpy(&y, b, sizeof y);
      return (x == nullptr) == (y == nullptr) && (x == nullptr || std::strcmp(x, y) == 0);
    }
    case ElementForm::Kind::array:
      for (std::size_t i = 0; i < form.n_base; ++i)
        if (!equal_elements(*form.base, a + i * form.base->size_bytes, b + i * form.base->size_bytes, same))
          return false;
      return true;
    case ElementForm::Kind::compound:
      return std::all_of(form.members.begin(), form.members.end(), [&](const ElementForm::Member& member) {
        return equal_elements(*member.form, a + member.offset_bytes, b + member.offset_bytes, same);
      });
  }
  return false;
}

std::size_t stored_element_bytes(const Lock& lock, hid_t type, std::size_t address_bytes) {
  const std::size_t size_bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      if (H5Tis_variable_str(type) <= 0) return size_bytes;
      [[fallthrough]];
    case H5T_VLEN:  // a length, and a place in the heap: its address and a number
      return 4 + address_bytes + 4;
    case H5T_ARRAY: {
      const Hid base = base_of(lock, type);
      return size_bytes / std::max<std::size_t>(H5Tget_size(base.get()), 1) *
             stored_element_bytes(lock, base.get(), address_bytes);
    }
    case H5T_COMPOUND: {
      std::size_t stored_bytes = size_bytes;
      const auto n_members = static_cast<unsigned>(checked(lock, H5Tget_nmembers(type), kReading));
      for (unsigned i = 0; i < n_members; ++i) {
        const Hid member = owned(lock, H5Tget_member_type(type, i), kReading);
        stored_bytes += stored_element_bytes(lock, member.get(), address_bytes);
        stored_bytes -= H5Tget_size(member.get());
      }
      return stored_bytes;
    }
    default:
      return size_bytes;
  }
}

}  // namespace chunkwise::hdf5
