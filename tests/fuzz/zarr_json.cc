// zarr.json documents of arrays and groups.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "format/zarr3/metadata.h"

using namespace chunkwise;

namespace {

std::string printed(const zarr3::ParsedArray& array) {
  return dump_json(zarr3::print_array(array.meta, array.native, Json::object()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Json document = parse_json({reinterpret_cast<const char*>(data), size});
    if (!document.is_object()) return 0;
    if (const auto type = document.find("node_type"); type != document.end() && *type == Json("group")) {
      static_cast<void>(zarr3::check_group(document));
      return 0;
    }
    const zarr3::ParsedArray array = zarr3::parse_array(document);
    if (!array.meta.unsupported.empty() || !array.has_keys) return 0;
    // What is taken is written in a spelling that means the same: written again, it is the same.
    const std::string once = printed(array);
    if (printed(zarr3::parse_array(parse_json(once))) != once) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
  return 0;
}
