// HDF5 and netCDF-4 files for reading.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/dataset.h"
#include "format/hdf5/element_copy.h"
#include "format/hdf5/records.h"

namespace chunkwise::hdf5 {

/// Immutable after construction, thread-safe.
class Hdf5Reader final : public Reader {
 public:
  /// `records` of a walk over the file. `located` tells of each array whether its index of chunks may be walked in this
  /// process (first_look.h); empty: of all.
  Hdf5Reader(std::shared_ptr<File> file, FileRecords records, std::vector<bool> located = {});
  const Hierarchy& tree() const override { return tree_; }
  std::unique_ptr<ArraySource> open_array(const std::string& path) const override;
  std::unique_ptr<ElementSource> open_elements(const std::string& path, std::uint64_t most_bytes) const override;
  void find_elements(const std::string& path) const override;
  void compare_elements(const std::string& path, const Reader& copy, const ElementWork& work) const override;
  /// Where an array of tree() stands. Valid while the reader lives.
  ElementPlace place(const std::string& path) const;

 private:
  ObjectPaths object_paths() const;

  std::shared_ptr<File> file_;
  std::vector<bool> located_;
  Hierarchy tree_;
  std::unordered_map<std::string, std::size_t> index_of_;  // of the arrays, by path
};

/// The tree of a file. `file` may be null for a tree that nobody will read or write by.
Hierarchy to_tree(std::shared_ptr<File> file, FileRecords records);

}  // namespace chunkwise::hdf5
