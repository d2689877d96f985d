// What a key of a store may look like.
#pragma once

#include <string>
#include <string_view>

namespace chunkwise {

/// What is wrong with a key: it must be '/'-separated and relative, without empty, "." and ".." parts and zero bytes.
/// Null if nothing is.
const char* key_fault(std::string_view key);

/// Throws Error{corrupt} naming the key and `root` if key_fault() finds something.
void check_key(std::string_view key, const std::string& root);

/// The key for a message: what cannot be shown is replaced, what is long is cut.
std::string shown_key(std::string_view key);

}  // namespace chunkwise
