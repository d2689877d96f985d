// HDF5 and netCDF-4 files for reading.
#pragma once

#include <memory>
#include <string>

#include "array/dataset.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// Immutable after construction, thread-safe.
class Hdf5Reader final : public Reader {
 public:
  /// Walks the whole file. Throws Error{corrupt}, Error{unsupported}.
  explicit Hdf5Reader(std::shared_ptr<File> file);
  const Hierarchy& tree() const override { return tree_; }
  std::unique_ptr<ArraySource> open_array(const std::string& path) const override;

 private:
  std::shared_ptr<File> file_;
  Hierarchy tree_;
};

}  // namespace chunkwise::hdf5
