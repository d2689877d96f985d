// Where the objects of a source file stand in its copy.
#pragma once

#include <map>
#include <string>

#include "format/hdf5/element_form.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

class ObjectMap {
 public:
  ObjectMap(const File& source, hid_t target_file)
      : source_file_(source.id()), source_bytes_(source.size_bytes()), target_file_(target_file) {}
  void add(haddr_t source_address, std::string target_path) { paths_[source_address] = std::move(target_path); }

  std::uint64_t source_bytes() const { return source_bytes_; }

  enum class Answer { moved, empty, dangling, left_out };
  /// Makes a reference of the source (its bytes at `at`) lead to the copy of what it leads to, a region reference to
  /// the same elements; zeros if there is none.
  Answer move(const Lock& lock, ElementForm::Kind kind, std::byte* at);

 private:
  struct Moved {
    Answer answer = Answer::dangling;
    hobj_ref_t reference = 0;
  };
  Moved move_object(const Lock& lock, hobj_ref_t reference) const;
  Answer move_region(const Lock& lock, std::byte* at) const;

  hid_t source_file_;
  std::uint64_t source_bytes_;
  hid_t target_file_;
  std::map<haddr_t, std::string> paths_;
  std::map<hobj_ref_t, Moved> moved_;  // as long lists refer to few objects
};

/// Looks where a reference leads, and nothing else.
void follow_reference(const Lock& lock, hid_t file, ElementForm::Kind kind, const std::byte* at);

/// Moves all references in `n` elements. Throws Error{unsupported} for one to an object that was left out.
void move_references(const Lock& lock, const ElementForm& form, std::byte* data, std::size_t n, ObjectMap& objects);

}  // namespace chunkwise::hdf5
