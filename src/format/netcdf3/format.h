// netCDF-3, the classic formats CDF-1, CDF-2 and CDF-5, as a row of the table of formats: "nc3".
#pragma once

#include <memory>
#include <string>

#include "array/dataset.h"

namespace chunkwise::netcdf3 {

bool probe(const std::string& path);
std::unique_ptr<Reader> open(const std::string& path);
void adapt(Hierarchy& tree, AdaptReport& report);
void check(const Hierarchy& tree);
std::unique_ptr<Writer> create(const std::string& path, const Hierarchy& tree);
std::unique_ptr<Writer> resume(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier);

}  // namespace chunkwise::netcdf3
