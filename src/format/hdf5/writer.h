// HDF5 and netCDF-4 files for writing.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "array/dataset.h"
#include "format/hdf5/file.h"
#include "format/hdf5/native.h"
#include "format/hdf5/object_map.h"
#include "format/hdf5/sink.h"

namespace chunkwise::hdf5 {

/// Hands out the sinks of a file whose objects all stand.
class Hdf5Writer final : public Writer {
 public:
  struct Target {
    std::string path;  // in the file
    ArrayMeta meta;
  };
  /// `targets` by the path of the array in the hierarchy.
  Hdf5Writer(std::shared_ptr<File> file, std::map<std::string, Target> targets);
  /// For a copy: where the objects of the source stand in it.
  void keep_objects(ObjectMap objects) { objects_ = std::move(objects); }

  std::unique_ptr<ArraySink> open_array(const std::string& path) override;
  std::unique_ptr<ElementSink> open_elements(const std::string& path, std::uint64_t most_bytes) override;
  void copy_elements(const std::string& path, const Reader& source, const ElementWork& work) override;
  std::optional<std::string> checkpoint() override;
  void finish() override;

  /// Before the first sink opens, all chunks of earlier checkpoints get their places again, see allocation.h. `kept`
  /// are the ranges the file was begun with.
  void go_on_from(CheckpointStates states, std::unique_ptr<const KeptRanges> kept);

 private:
  void place_again();
  std::unique_ptr<Hdf5Sink> open_sink(const std::string& path, const Target& target, std::uint32_t number);

  std::shared_ptr<File> file_;
  std::map<std::string, Target> targets_;
  std::optional<ObjectMap> objects_;
  CheckpointStates earlier_;  // not null: still to be placed again
  std::unique_ptr<const KeptRanges> kept_;
};

/// Recreates the objects of an HDF5 file as they are, hidden ones included; only layouts differ where `tree` says so.
/// `kept`: see CreateOptions.
std::unique_ptr<Hdf5Writer> write_native(const std::string& path, const Hierarchy& tree, const FileNative& source,
                                         const KeptRanges* kept);
/// Writes a hierarchy from any format: dimensions as scales, like netCDF-C. Attributes in netCDF's forms if `netcdf`.
std::unique_ptr<Hdf5Writer> write_neutral(const std::string& path, const Hierarchy& tree, bool netcdf,
                                          const KeptRanges* kept);

/// Metadata allocation block for a file with as many chunks as `tree` (see CreateOptions).
std::uint64_t metadata_block_bytes(const Hierarchy& tree);

}  // namespace chunkwise::hdf5
