// Zarr format 2: .zarray, .zgroup, .zattrs and .zmetadata. The members of its row in format/registry.h.
#pragma once

#include <memory>
#include <string>

#include "array/dataset.h"

namespace chunkwise::zarr2 {

bool probe(const std::string& path);
std::unique_ptr<Reader> open(const std::string& path);
/// Of arrays of many chunks only some are looked at: what is said of stored ones is an estimate.
Hierarchy describe(const std::string& path);
void adapt(Hierarchy& tree, AdaptReport& report);
void check(const Hierarchy& tree);
std::unique_ptr<Writer> create(const std::string& path, const Hierarchy& tree);
std::unique_ptr<Writer> resume(const std::string& path, const Hierarchy& tree, const EarlierWork& earlier);

}  // namespace chunkwise::zarr2
