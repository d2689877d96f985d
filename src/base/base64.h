// Base64, the standard alphabet with padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace chunkwise {

std::string to_base64(ByteView bytes);
/// Nothing if the text is malformed; padding is required.
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

/// The same for buffers. Characters for so many bytes, and bytes that a text stands for if it is well formed.
std::size_t base64_characters(std::size_t n_bytes);
std::size_t base64_bytes(std::string_view text);
/// `text` has room for base64_characters.
void encode_base64(ByteView bytes, char* text);
/// `bytes` has room for base64_bytes. False if the text is malformed.
bool decode_base64(std::string_view text, std::byte* bytes);

}  // namespace chunkwise
