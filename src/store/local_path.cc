#include "store/local_path.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

namespace chunkwise {

std::string local_path(const std::string& text) {
  constexpr std::string_view kScheme = "file://";
  if (text.compare(0, kScheme.size(), kScheme) != 0) return text;
  const auto fail = [&text](const std::string& why, const std::string& hint) {
    throw Error(Code::usage, fmt::format("'{}' names no local file: {}", text, why), hint);
  };
  std::string_view rest = std::string_view(text).substr(kScheme.size());
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (!host.empty() && host != "localhost")
    fail(fmt::format("'{}' is read as a host", host), "write three slashes: file:///folder/name");
  rest.remove_prefix(host.size());
  if (rest.empty()) fail("it has no path", "write three slashes: file:///folder/name");
  if (rest.find_first_of("?#") != std::string_view::npos)
    fail("what follows '?' or '#' is not part of a path", "leave it out, or give the path without file://");
  std::string path;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != '%') {
      path += rest[i];
      continue;
    }
    const std::string_view digits = rest.substr(i + 1, 2);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || digits.size() != 2 || end != digits.data() + 2 || value == 0)
      fail(fmt::format("'%{}' stands for no character", digits), "write %25 for a percent sign");
    path += static_cast<char>(value);
    i += 2;
  }
  return path;
}

}  // namespace chunkwise
