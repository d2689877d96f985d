#include "codec/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

bool is_word(const Parameter& row) {
  return !row.words.empty();
}

// The place of a word, or that of the end.
std::size_t find_word(const Parameter& row, std::string_view word) {
  return static_cast<std::size_t>(std::find(row.words.begin(), row.words.end(), word) - row.words.begin());
}

std::int64_t clamped(const Parameter& row, std::int64_t value) {
  return row.clamped ? std::clamp(value, row.asked.least, row.asked.most) : value;
}

// `value` is an integer or the place of a word.
void put(const Parameter& row, std::int64_t value, CodecSpec& spec) {
  if (row.optional && value == row.otherwise) return;
  if (is_word(row)) {
    spec.params[row.key] = std::string(row.words[static_cast<std::size_t>(value)]);
  } else {
    spec.params[row.key] = value;
  }
}

std::int64_t get(const Parameter& row, const CodecSpec& spec) {
  return is_word(row) ? static_cast<std::int64_t>(row.word(spec)) : row.integer(spec);
}

std::int64_t parse_word(const Parameters& parameters, const Parameter& row, std::string_view text) {
  const std::size_t place = find_word(row, text);
  if (place < row.words.size()) return static_cast<std::int64_t>(place);
  throw Error(Code::usage, fmt::format("'{}' is not a {} {}", text, parameters.codec, row.what),
              suggest(text, {row.words.begin(), row.words.end()}));
}

std::int64_t member_of(const Parameters& parameters, const Parameter& row, const Json& config) {
  if (!is_word(row)) return clamped(row, config_integer(config, row.member, row.absent, row.stored, parameters.codec));
  const char* const otherwise = row.words[static_cast<std::size_t>(row.absent)];
  const CodecSpec spec{std::string(parameters.codec),
                       {{row.key, config_text(config, row.member, otherwise, parameters.codec)}}};
  return static_cast<std::int64_t>(row.word(spec));
}

void add_members(const Parameters& parameters, const CodecSpec& spec, Json& config) {
  for (const Parameter& row : parameters.rows) {
    if (row.member == nullptr) continue;
    const std::int64_t value = get(row, spec);
    if (row.optional && value == row.otherwise) continue;
    if (is_word(row)) {
      config[row.member] = row.words[static_cast<std::size_t>(value)];
    } else {
      config[row.member] = value;
    }
  }
}

}  // namespace

std::int64_t Parameter::integer(const CodecSpec& spec) const {
  const std::int64_t value = spec.integer(key, otherwise);
  require_parameter(value, stored, spec.name, key);
  return chunkwise::clamped(*this, value);
}

std::size_t Parameter::word(const CodecSpec& spec) const {
  const std::string text = spec.text(key, words[static_cast<std::size_t>(otherwise)]);
  const std::size_t place = find_word(*this, text);
  if (place < words.size()) return place;
  throw Error(Code::corrupt, fmt::format("codec '{}': there is no {} '{}'", spec.name, what, text));
}

CodecSpec parse_arguments(const Parameters& parameters, std::span<const std::string_view> arguments) {
  CodecSpec spec{std::string(parameters.codec), {}};
  std::size_t position = 0;
  for (const Parameter& row : parameters.rows) {
    if (!row.argument) continue;
    if (!is_word(row)) {
      put(row, argument_integer(arguments, position, row.what, row.otherwise, row.asked, parameters.usage), spec);
    } else {
      put(row, position < arguments.size() ? parse_word(parameters, row, arguments[position]) : row.otherwise, spec);
    }
    ++position;
  }
  require_arguments(arguments, position, parameters.usage);
  return spec;
}

std::string print_arguments(const Parameters& parameters, const CodecSpec& spec) {
  std::string text(parameters.codec);
  std::string unset;  // arguments that need only be there if one follows
  for (const Parameter& row : parameters.rows) {
    if (!row.argument) continue;
    const std::int64_t value = get(row, spec);
    unset += ':';
    unset += is_word(row) ? row.words[static_cast<std::size_t>(value)] : fmt::format("{}", value);
    if (row.optional && value == row.otherwise) continue;
    text += unset;
    unset.clear();
  }
  return text;
}

CodecSpec from_members(const Parameters& parameters, const Json& config) {
  CodecSpec spec{std::string(parameters.codec), {}};
  for (const Parameter& row : parameters.rows) {
    if (row.member != nullptr) put(row, member_of(parameters, row, config), spec);
  }
  return spec;
}

Json to_members(const Parameters& parameters, const CodecSpec& spec) {
  Json config = Json::object();
  add_members(parameters, spec, config);
  return config;
}

Json to_numcodecs(const Parameters& parameters, const CodecSpec& spec) {
  Json config = Json::object();
  config["id"] = parameters.zarr2_id;
  add_members(parameters, spec, config);
  return config;
}

}  // namespace chunkwise
