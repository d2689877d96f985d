#include "codec/config.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/json.h"
#include "codec/codec.h"

namespace chunkwise {
namespace {

std::string range_text(IntegerRange range) {
  if (range.least == range.most) return fmt::format("{}", range.least);
  return fmt::format("from {} to {}", range.least, range.most);
}

}  // namespace

std::int64_t config_integer(const Json& config, const char* key, std::int64_t otherwise, IntegerRange range,
                            std::string_view codec) {
  if (!config.is_object()) return otherwise;
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return otherwise;
  std::int64_t value = 0;
  if (found->is_boolean()) {
    value = found->get<bool>() ? 1 : 0;
  } else if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
    value = INT64_MAX;
  } else if (found->is_number_integer()) {
    value = found->get<std::int64_t>();
  } else {
    throw Error(Code::corrupt, fmt::format("codec '{}': {} must be an integer", codec, key));
  }
  require_parameter(value, range, codec, key);
  return value;
}

std::string config_text(const Json& config, const char* key, std::string_view otherwise, std::string_view codec) {
  if (!config.is_object()) return std::string(otherwise);
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return std::string(otherwise);
  if (!found->is_string()) throw Error(Code::corrupt, fmt::format("codec '{}': {} must be a text", codec, key));
  return found->get<std::string>();
}

std::int64_t argument_integer(std::span<const std::string_view> arguments, std::size_t position, const char* what,
                              std::int64_t otherwise, IntegerRange range, std::string_view usage) {
  if (position >= arguments.size()) return otherwise;
  const std::string_view text = arguments[position];
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < range.least || value > range.most) {
    throw Error(Code::usage, fmt::format("'{}' is not a {} {}", text, what, range_text(range)),
                fmt::format("write {}", usage));
  }
  return value;
}

void require_arguments(std::span<const std::string_view> arguments, std::size_t most, std::string_view usage) {
  if (arguments.size() <= most) return;
  throw Error(Code::usage, fmt::format("':{}' is one argument too many", arguments[most]),
              fmt::format("write {}", usage));
}

void require_parameter(std::int64_t value, IntegerRange range, std::string_view codec, const char* key) {
  if (value >= range.least && value <= range.most) return;
  throw Error(Code::corrupt, fmt::format("codec '{}': {} is {}, must be {}", codec, key, value, range_text(range)));
}

void throw_lossy(const std::string& what) {
  throw Error(Code::unsupported,
              what + "; encoding again could change values, so the chunks can only be copied as they are",
              "keep the chunks with -c VARIABLE:keep, or say what to use instead with --codec, such as "
              "VARIABLE:shuffle,deflate:4");
}

void throw_decoded_too_large(std::string_view codec, std::size_t max_decoded_bytes) {
  throw DecodedTooLarge(Code::corrupt, fmt::format("{} data decodes to more than the {} bytes that belong here", codec,
                                                   max_decoded_bytes));
}

}  // namespace chunkwise
