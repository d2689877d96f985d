// Copying HDF5 attributes as they are, from file to file.
#pragma once

#include <map>
#include <string>

#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Where the objects of a source file stand in the target.
class ObjectMap {
 public:
  ObjectMap(const File& source, hid_t target_file)
      : source_file_(source.id()), source_bytes_(source.size_bytes()), target_file_(target_file) {}
  void add(haddr_t source_address, std::string target_path) { paths_[source_address] = std::move(target_path); }
  bool contains(haddr_t source_address) const { return paths_.contains(source_address); }

  std::uint64_t source_bytes() const { return source_bytes_; }

  enum class Answer { moved, empty, dangling, left_out };
  /// Makes `reference` lead to the copy of what it leads to in the source; null if there is none.
  Answer move(const Lock& lock, hobj_ref_t& reference) const;

 private:
  hid_t source_file_;
  std::uint64_t source_bytes_;
  hid_t target_file_;
  std::map<haddr_t, std::string> paths_;
};

/// Reads what copy_attribute would read of an attribute, and follows its references. Throws Error{corrupt}.
void rehearse_copy(const Lock& lock, const File& file, hid_t source, const std::string& name);

/// Copies attribute `name` with its own type, space and character set; object references are moved. In DIMENSION_LIST
/// and REFERENCE_LIST those to objects that were left out vanish, and with the last of them a REFERENCE_LIST.
/// Throws Error{unsupported} for other references to objects left out, and for region references.
void copy_attribute(const Lock& lock, hid_t source, hid_t target, const std::string& name, const ObjectMap& objects);

}  // namespace chunkwise::hdf5
