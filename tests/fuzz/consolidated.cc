// Stores of which only the consolidated metadata is left: .zmetadata, or a zarr.json with a root group. Both formats
// get to see every input.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "array/dataset.h"
#include "base/error.h"
#include "format/registry.h"

using namespace chunkwise;

namespace {

void open_store(const char* format, const std::string& folder) {
  try {
    const auto reader = find_format(format)->open(folder);
    for (const ArrayNode& node : reader->tree().arrays) {
      if (node.meta.unsupported.empty()) static_cast<void>(reader->open_array(node.meta.path));
    }
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder =
      (std::filesystem::temp_directory_path() / ("fuzz_consolidated." + std::to_string(getpid()))).string();
  for (const char* name : {".zmetadata", "zarr.json"}) {
    const std::string store = folder + "/" + name;
    std::filesystem::create_directories(store);
    std::ofstream(store + "/" + name, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  open_store("zarr2", folder + "/.zmetadata");
  open_store("zarr3", folder + "/zarr.json");
  return 0;
}
