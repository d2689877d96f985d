// Small sound HDF5 files to start from: old and new headers, all kinds of chunk index, texts, lists and references.
#pragma once

#include <string>
#include <vector>

namespace chunkwise::fuzz {

/// Writes the files into `folder` and returns their paths.
std::vector<std::string> make_seeds(const std::string& folder);

}  // namespace chunkwise::fuzz
