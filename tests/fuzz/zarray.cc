// .zarray documents.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "format/zarr2/metadata.h"

using namespace chunkwise;

namespace {

std::string printed(const zarr2::ParsedArray& array) {
  return dump_json(zarr2::print_zarray(array.meta, array.native, parse_json(array.native.fill_json)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Json document = parse_json({reinterpret_cast<const char*>(data), size});
    const zarr2::ParsedArray array = zarr2::parse_zarray(document);
    if (!array.meta.unsupported.empty()) return 0;
    // What is taken is written in a spelling that means the same: written again, it is the same.
    const std::string once = printed(array);
    if (printed(zarr2::parse_zarray(parse_json(once))) != once) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
  return 0;
}
