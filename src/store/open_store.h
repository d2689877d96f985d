// Which kind of store stands at a path: the one place that decides.
#pragma once

#include <memory>
#include <string>

#include "store/store.h"

namespace chunkwise {

/// True if a store of this name is to be a zip file: "x.zip", "x.zarr.zip".
bool has_zip_name(const std::string& path);

/// The store at a path, to read from: a zip file, or else a directory. Throws what open_zip_store and
/// open_directory_store throw.
std::unique_ptr<Store> open_store(const std::string& path);

/// Looks for objects at the root of what stands at a path, if that can be a store. Throws what open_zip_store throws
/// for damaged files.
class StoreProbe {
 public:
  explicit StoreProbe(const std::string& path);
  /// False for what the system refuses to show.
  bool has(std::string_view name) const;

 private:
  std::string folder_;  // empty unless it is one
  std::unique_ptr<Store> zip_;
};

/// A new store: in the directory that stands there, else a zip file.
std::unique_ptr<Store> create_store(const std::string& path);

}  // namespace chunkwise
