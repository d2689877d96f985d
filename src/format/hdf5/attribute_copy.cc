#include "format/hdf5/attribute_copy.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/checked.h"
#include "format/hdf5/references.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/types.h"

namespace chunkwise::hdf5 {
namespace {

/// Values read with memory of the library's in them (texts, lists), given back at the end.
class Values {
 public:
  Values(const Lock& lock, hid_t attribute, hid_t type, hid_t space, const std::string& what, std::uint64_t max_bytes)
      : type_(type), space_(space) {
    const auto n = checked(lock, H5Sget_simple_extent_npoints(space), what);
    n_ = static_cast<std::size_t>(n);
    const auto size_bytes = checked_mul<std::uint64_t>(n_, H5Tget_size(type));
    // Lists of no elements may be a little larger in memory than in the file.
    if (!size_bytes || *size_bytes / 2 > max_bytes)
      throw Error(Code::corrupt, fmt::format("{}: {} elements are more than the file holds", what, n_));
    data_.resize(static_cast<std::size_t>(*size_bytes));
    if (!data_.empty()) checked(lock, H5Aread(attribute, type, data_.data()), what);
    owns_ =
        H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0 || H5Tdetect_class(type, H5T_STRING) > 0;
  }
  ~Values() {
    if (owns_ && !data_.empty()) H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, data_.data());
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  std::size_t n() const { return n_; }
  std::vector<std::byte>& data() { return data_; }

 private:
  hid_t type_;
  hid_t space_;
  std::size_t n_ = 0;
  bool owns_ = false;
  std::vector<std::byte> data_;
};

/// Drops the entries of a REFERENCE_LIST whose dataset was left out; returns how many are left.
std::size_t keep_entries(const Lock& lock, hid_t type, std::vector<std::byte>& data, std::size_t n,
                         const ObjectMap& objects) {
  const std::size_t size_bytes = H5Tget_size(type);
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* const entry = data.data() + i * size_bytes;
    bool keep = true;
    visit_references(lock, type, entry, 1, [&](hobj_ref_t& reference) {
      const ObjectMap::Answer answer = objects.move(lock, reference);
      keep &= answer == ObjectMap::Answer::moved || answer == ObjectMap::Answer::empty;
      return Kept::yes;
    });
    if (!keep) continue;
    std::memmove(data.data() + n_kept * size_bytes, entry, size_bytes);
    ++n_kept;
  }
  return n_kept;
}

void move_references(const Lock& lock, hid_t type, std::vector<std::byte>& data, std::size_t n,
                     const ObjectMap& objects, bool may_vanish) {
  visit_references(lock, type, data.data(), n, [&](hobj_ref_t& reference) {
    const ObjectMap::Answer answer = objects.move(lock, reference);
    if (answer == ObjectMap::Answer::left_out && !may_vanish)
      throw Error(Code::unsupported, "it refers to an object that is left out",
                  "keep that object, or leave out the one with the attribute as well");
    return answer == ObjectMap::Answer::moved || !may_vanish ? Kept::yes : Kept::no;
  });
}

}  // namespace

ObjectMap::Answer ObjectMap::move(const Lock& lock, hobj_ref_t& reference) const {
  if (reference == 0) return Answer::empty;
  const haddr_t address = referenced_address(lock, source_file_, reference);
  reference = 0;
  if (address == HADDR_UNDEF) return Answer::dangling;
  const auto found = paths_.find(address);
  if (found == paths_.end()) return Answer::left_out;
  checked(lock, H5Rcreate(&reference, target_file_, found->second.c_str(), H5R_OBJECT, -1),
          "cannot make a reference to " + found->second, Code::internal);
  return Answer::moved;
}

void rehearse_copy(const Lock& lock, const File& file, hid_t source, const std::string& name) {
  const std::string reading = "cannot read the attribute @" + name;
  const Hid from = owned(lock, H5Aopen(source, name.c_str(), H5P_DEFAULT), reading);
  const Hid own_type = owned(lock, H5Aget_type(from.get()), reading);
  const Hid type = transient_copy(lock, own_type.get());
  const Hid space = owned(lock, H5Aget_space(from.get()), reading);
  Values values(lock, from.get(), type.get(), space.get(), reading, file.size_bytes());
  visit_references(lock, type.get(), values.data().data(), values.n(), [&](hobj_ref_t& reference) {
    referenced_address(lock, file.id(), reference);
    return Kept::yes;
  });
}

void copy_attribute(const Lock& lock, hid_t source, hid_t target, const std::string& name, const ObjectMap& objects) {
  const std::string reading = "cannot read the attribute @" + name;
  const std::string writing = "cannot write the attribute @" + name;
  try {
    const Hid from = owned(lock, H5Aopen(source, name.c_str(), H5P_DEFAULT), reading);
    const Hid own_type = owned(lock, H5Aget_type(from.get()), reading);
    const Hid type = transient_copy(lock, own_type.get());
    const Hid own_space = owned(lock, H5Aget_space(from.get()), reading);
    Hid kept_space;
    hid_t space = own_space.get();
    const bool is_null = H5Sget_simple_extent_type(space) == H5S_NULL;
    Values values(lock, from.get(), type.get(), space, reading, objects.source_bytes());
    if (!is_null && holds_references(lock, type.get())) {
      if (name == "REFERENCE_LIST") {
        const hsize_t n_kept = keep_entries(lock, type.get(), values.data(), values.n(), objects);
        if (n_kept == 0) return;
        kept_space = owned(lock, H5Screate_simple(1, &n_kept, nullptr), writing, Code::internal);
        space = kept_space.get();
      } else {
        move_references(lock, type.get(), values.data(), values.n(), objects, name == "DIMENSION_LIST");
      }
    }
    const Hid naming = owned(lock, H5Aget_create_plist(from.get()), reading);
    const Hid to =
        owned(lock, H5Acreate2(target, name.c_str(), type.get(), space, naming.get(), H5P_DEFAULT), writing, Code::io);
    if (!values.data().empty()) checked(lock, H5Awrite(to.get(), type.get(), values.data().data()), writing, Code::io);
  } catch (Error& error) {
    if (error.message().find('@') == std::string::npos) throw error.in("@" + name);
    throw;
  }
}

}  // namespace chunkwise::hdf5
