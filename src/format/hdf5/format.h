// The HDF5 family as rows of the table of formats: "nc4" (netCDF-4) and "h5" (any other HDF5 file).
#pragma once

#include <memory>
#include <string>

#include "array/dataset.h"

namespace chunkwise::hdf5 {

/// "HDF5 1.10.8": the library that runs.
std::string library_version();
/// Any HDF5 file, at whatever place a user block lets it begin. Reads nothing but the signature.
bool probe(const std::string& path);
/// Opens either, after a first look by a child process; tree().format tells which.
std::unique_ptr<Reader> open(const std::string& path);
/// The tree alone, for who reads no elements and writes nothing by it: the file is never opened in this process.
Hierarchy describe(const std::string& path);
void adapt_nc4(Hierarchy& tree, AdaptReport& report);
void adapt_h5(Hierarchy& tree, AdaptReport& report);
void check(const Hierarchy& tree);
std::unique_ptr<Writer> create_nc4(const std::string& path, const Hierarchy& tree);
std::unique_ptr<Writer> create_h5(const std::string& path, const Hierarchy& tree);
std::unique_ptr<Writer> resume_nc4(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier);
std::unique_ptr<Writer> resume_h5(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier);

}  // namespace chunkwise::hdf5
