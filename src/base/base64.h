// Base64, as JSON spells bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace chunkwise {

/// The standard alphabet with padding.
std::string to_base64(ByteView bytes);
/// Nothing if the text is malformed; padding is required.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

}  // namespace chunkwise
