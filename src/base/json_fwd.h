#pragma once

#include <nlohmann/json_fwd.hpp>

namespace chunkwise {
/// Objects keep the order of their members.
using Json = nlohmann::ordered_json;
}  // namespace chunkwise
