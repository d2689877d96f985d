#include "format/hdf5/attribute_copy.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/checked.h"
#include "format/hdf5/scales.h"
#include "format/hdf5/shared_messages.h"

namespace chunkwise::hdf5 {
namespace {

/// Values read with memory of the library's in them (texts, lists), given back at the end.
class Values {
 public:
  Values(const Lock& lock, hid_t attribute, const MemoryForm& form, hid_t space, const std::string& what,
         std::uint64_t max_bytes)
      : form_(form), space_(space) {
    n_ = static_cast<std::size_t>(checked(lock, H5Sget_simple_extent_npoints(space), what));
    const auto size_bytes = checked_mul<std::uint64_t>(n_, form.form.size_bytes);
    // Lists of no elements may be a little larger in memory than in the file.
    if (!size_bytes || *size_bytes / 2 > max_bytes)
      throw Error(Code::corrupt, fmt::format("{}: {} elements are more than the file holds", what, n_));
    data_.resize(static_cast<std::size_t>(*size_bytes));
    if (!data_.empty()) checked(lock, H5Aread(attribute, form.type.get(), data_.data()), what);
  }
  ~Values() {
    if (form_.form.has_lists && !data_.empty()) H5Dvlen_reclaim(form_.type.get(), space_, H5P_DEFAULT, data_.data());
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  std::size_t n() const { return n_; }
  std::vector<std::byte>& data() { return data_; }

 private:
  const MemoryForm& form_;
  hid_t space_;
  std::size_t n_ = 0;
  std::vector<std::byte> data_;
};

/// The form in which nothing of the attribute's texts is lost.
MemoryForm best_form(const Lock& lock, hid_t attribute, hid_t type, hid_t space, const std::string& name,
                     std::uint64_t max_bytes) {
  MemoryForm as_lists = memory_form(lock, type);
  MemoryForm as_texts = memory_form(lock, type, Texts::as_texts);
  if (!as_texts.form.has_texts) return as_lists;
  const std::string reading = "cannot read the attribute @" + name;
  Values lists(lock, attribute, as_lists, space, reading, max_bytes);
  Values texts(lock, attribute, as_texts, space, reading, max_bytes);
  TextFacts facts;
  look_at_texts(as_lists.form, lists.data().data(), as_texts.form, texts.data().data(), lists.n(), facts);
  if (facts.contradict())
    throw Error(Code::unsupported,
                "an attribute with an empty text and one with a zero byte in it cannot be written by the HDF5 library");
  return facts.best() == Texts::as_texts ? std::move(as_texts) : std::move(as_lists);
}

/// Drops the entries of a REFERENCE_LIST whose dataset was left out; returns how many are left.
std::size_t keep_entries(const Lock& lock, const ElementForm& form, std::byte* data, std::size_t n,
                         ObjectMap& objects) {
  std::size_t n_kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* const entry = data + i * form.size_bytes;
    bool keep = true;
    visit_references(form, entry, 1, [&](ElementForm::Kind kind, std::byte* at) {
      const ObjectMap::Answer answer = objects.move(lock, kind, at);
      keep &= answer == ObjectMap::Answer::moved || answer == ObjectMap::Answer::empty;
      return Kept::yes;
    });
    if (!keep) continue;
    std::memmove(data + n_kept * form.size_bytes, entry, form.size_bytes);
    ++n_kept;
  }
  return n_kept;
}

/// References of a DIMENSION_LIST to scales that were left out vanish from the lists.
void move_scales(const Lock& lock, const ElementForm& form, std::byte* data, std::size_t n, ObjectMap& objects) {
  visit_references(form, data, n, [&](ElementForm::Kind kind, std::byte* at) {
    return objects.move(lock, kind, at) == ObjectMap::Answer::moved ? Kept::yes : Kept::no;
  });
}

}  // namespace

void rehearse_copy(const Lock& lock, const File& file, hid_t source, const std::string& name) {
  const std::string reading = "cannot read the attribute @" + name;
  const Hid from = owned(lock, H5Aopen(source, name.c_str(), H5P_DEFAULT), reading);
  const Hid type = owned(lock, H5Aget_type(from.get()), reading);
  const MemoryForm form = memory_form(lock, type.get());
  const Hid space = owned(lock, H5Aget_space(from.get()), reading);
  Values values(lock, from.get(), form, space.get(), reading, file.size_bytes());
  visit_references(form.form, values.data().data(), values.n(), [&](ElementForm::Kind kind, std::byte* at) {
    follow_reference(lock, file.id(), kind, at);
    return Kept::yes;
  });
}

void copy_attribute(const Lock& lock, hid_t source, hid_t target, const std::string& name, CommittedTypes& types,
                    ObjectMap& objects) {
  const std::string reading = "cannot read the attribute @" + name;
  const std::string writing = "cannot write the attribute @" + name;
  try {
    const Hid from = owned(lock, H5Aopen(source, name.c_str(), H5P_DEFAULT), reading);
    const Hid source_type = owned(lock, H5Aget_type(from.get()), reading);
    const Hid type = types.in_target(lock, source_type.get());
    const Hid own_space = owned(lock, H5Aget_space(from.get()), reading);
    const MemoryForm form =
        best_form(lock, from.get(), source_type.get(), own_space.get(), name, objects.source_bytes());
    Hid space = fresh_space(lock, own_space.get());
    Values values(lock, from.get(), form, own_space.get(), reading, objects.source_bytes());
    if (name == "REFERENCE_LIST" && form.form.has_references) {
      const hsize_t n_kept = keep_entries(lock, form.form, values.data().data(), values.n(), objects);
      if (n_kept == 0) return;
      space = owned(lock, H5Screate_simple(1, &n_kept, nullptr), writing, Code::internal);
    } else if (name == "DIMENSION_LIST") {
      move_scales(lock, form.form, values.data().data(), values.n(), objects);
    } else {
      move_references(lock, form.form, values.data().data(), values.n(), objects);
    }
    const Hid naming = owned(lock, H5Aget_create_plist(from.get()), reading);
    const Hid to = owned(lock, H5Acreate2(target, name.c_str(), type.get(), space.get(), naming.get(), H5P_DEFAULT),
                         writing, Code::io);
    if (!values.data().empty())
      checked(lock, H5Awrite(to.get(), form.type.get(), values.data().data()), writing, Code::io);
  } catch (Error& error) {
    if (error.message().find('@') == std::string::npos) throw error.in("@" + name);
    throw;
  }
}

}  // namespace chunkwise::hdf5
