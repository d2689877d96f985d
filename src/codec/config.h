// Reading codec parameters from metadata and from the command line, with errors that name the codec.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace chunkwise {

/// Inclusive.
struct IntegerRange {
  std::int64_t least;
  std::int64_t most;
};

/// The member as an integer (true and false count as 1 and 0), or `otherwise` where it is absent or null.
/// Throws Error{corrupt} naming `codec` and `key` if it is something else or out of range.
std::int64_t config_integer(const Json& config, const char* key, std::int64_t otherwise, IntegerRange range,
                            std::string_view codec);

/// The member as text, or `otherwise` where it is absent or null. Throws Error{corrupt} if it is something else.
std::string config_text(const Json& config, const char* key, std::string_view otherwise, std::string_view codec);

/// Argument `position` of "codec:ARG:ARG" as an integer, or `otherwise` where there are fewer.
/// Throws Error{usage} naming the range and quoting the usage line.
std::int64_t argument_integer(std::span<const std::string_view> arguments, std::size_t position, const char* what,
                              std::int64_t otherwise, IntegerRange range, std::string_view usage);

/// Throws Error{usage} if there are more than `most` arguments.
void require_arguments(std::span<const std::string_view> arguments, std::size_t most, std::string_view usage);

/// Throws Error{corrupt} unless `value` lies in the range.
void require_parameter(std::int64_t value, IntegerRange range, std::string_view codec, const char* key);

/// Throws Error{unsupported}: "<what>; encoding again could change values, ..."; for Codec::require_lossless.
[[noreturn]] void throw_lossy(const std::string& what);

/// Throws DecodedTooLarge{corrupt}: "<codec>: result is larger than the N bytes that belong here".
[[noreturn]] void throw_decoded_too_large(std::string_view codec, std::size_t max_decoded_bytes);

}  // namespace chunkwise
