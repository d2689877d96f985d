// The libraries that codecs are made of.
#pragma once

#include <string>
#include <vector>

namespace chunkwise {

/// "libdeflate 1.14", ...: versions of the libraries as they run, where they tell, else as they were compiled.
std::vector<std::string> codec_libraries();

}  // namespace chunkwise
