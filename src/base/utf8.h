// Texts as UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace chunkwise {

/// True if `text` is well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

/// The text that these bytes are if each is a character of Latin-1.
std::string latin1_to_utf8(std::string_view text);

}  // namespace chunkwise
