// A walk over all objects of an HDF5 file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/hierarchy.h"
#include "format/hdf5/file.h"
#include "format/hdf5/scales.h"

namespace chunkwise::hdf5 {

struct GroupRecord {
  std::string path;
  haddr_t address = HADDR_UNDEF;
  std::vector<Attribute> attributes;
  std::uint64_t order = 0;
};

struct DatasetRecord {
  std::string path;  // in the file
  haddr_t address = HADDR_UNDEF;
  ArrayMeta meta;
  bool null_space = false;
  std::vector<std::string> other_files;
  AxisBooks axes;
  std::vector<Attribute> attributes;  // without the hidden ones
  std::uint64_t order = 0;
};

struct TypeRecord {
  std::string path;
  haddr_t address = HADDR_UNDEF;
  DType dtype;
  std::vector<Attribute> attributes;
  std::uint64_t order = 0;
};

/// All objects of a file, parents before children, each once: under the first path that led to it.
struct FileRecords {
  std::vector<GroupRecord> groups;  // the root first
  std::vector<DatasetRecord> datasets;
  std::vector<TypeRecord> types;
  std::vector<LinkNode> links;
  std::vector<UnsupportedNode> unsupported;
  bool is_netcdf = false;  // has the marks of netCDF-C
  bool classic_model = false;
  bool has_large_attributes = false;
};

/// Visits links in creation order where a group tracked it, else by name. Throws Error{corrupt}, and Error{unsupported}
/// for groups nested deeper than 1000.
FileRecords walk(const Lock& lock, const std::shared_ptr<File>& file);

}  // namespace chunkwise::hdf5
