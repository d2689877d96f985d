// What a walk over an HDF5 file finds, in a form that can go from one process to another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "array/hierarchy.h"
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
  ByteOrder byte_order = kNativeOrder;
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

/// For another process of the same program, and back; natives of attributes are left out. What comes from a process
/// that read a damaged file is not believed: unpack throws Error{corrupt} rather than return lengths or kinds that
/// cannot be.
std::string pack(const FileRecords& records);
FileRecords unpack_records(std::string_view packed);

}  // namespace chunkwise::hdf5
