#include "store/store_key.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace chunkwise {

const char* key_fault(std::string_view key) {
  if (key.find('\0') != std::string_view::npos) return "it contains a zero byte";
  for (std::string_view rest = key;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty()) return "a part of it is empty";
    if (part == "." || part == "..") return "'.' and '..' are not allowed";
    if (slash == std::string_view::npos) return nullptr;
    rest.remove_prefix(slash + 1);
  }
}

void check_key(std::string_view key, const std::string& root) {
  const char* const fault = key_fault(key);
  if (fault == nullptr) return;
  throw Error(Code::corrupt, fmt::format("'{}' is not a key of a store: {}", shown_key(key), fault)).in(root);
}

std::string shown_key(std::string_view key) {
  constexpr std::size_t kMostShown = 200;
  std::string shown(key.substr(0, kMostShown));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  if (key.size() > kMostShown) shown += "...";
  return shown;
}

}  // namespace chunkwise
