#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chunkwise {

/// "did you mean 'time'?" for the nearest name (edit distance at most 1/3 of the length, case ignored), else
/// "known: a, b, c" with at most 12 names, else empty. For hints of Error.
std::string suggest(std::string_view mistyped, const std::vector<std::string>& known);

}  // namespace chunkwise
