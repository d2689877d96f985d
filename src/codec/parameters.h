// Parameters of codecs as tables: a row says what a parameter may be and how it is spelled on the command line and in
// JSON. What fits no table a codec reads and writes itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "codec/config.h"
#include "codec/spec.h"

namespace chunkwise {

/// A number or one of some words.
struct Parameter {
  const char* key;                          // in CodecSpec::params
  const char* what = key;                   // in errors: "'99' is not a level from 0 to 9"
  std::span<const char* const> words = {};  // empty: an integer
  std::int64_t otherwise = 0;               // where it is not given: the integer, or the place among the words
  IntegerRange asked = {};                  // integers on the command line
  IntegerRange stored = asked;              // and in files, where other programs may be freer
  bool clamped = false;                     // a number in a file outside `asked` means the nearest inside
  bool optional = false;                    // is not in CodecSpec::params where it is `otherwise`
  bool argument = true;                     // false: not on the command line
  const char* member = nullptr;             // in JSON; null: not there
  std::int64_t absent = otherwise;          // where JSON does not have it

  /// What a codec is to use. Throws Error{corrupt} naming codec and key for what cannot be.
  std::int64_t integer(const CodecSpec& spec) const;
  /// The same, as a place among the words.
  std::size_t word(const CodecSpec& spec) const;
};

/// Of one codec, in the order of its arguments.
struct Parameters {
  std::string_view codec;  // canonical name
  std::string_view usage;
  std::span<const Parameter> rows = {};
  std::string_view zarr2_id = {};
};

/// "CODEC:ARGUMENT:ARGUMENT". Throws Error{usage} quoting the usage line, with a suggestion for words.
CodecSpec parse_arguments(const Parameters& parameters, std::span<const std::string_view> arguments);
/// The inverse. Arguments at the end that are optional and not set are left out.
std::string print_arguments(const Parameters& parameters, const CodecSpec& spec);
/// Throws Error{corrupt} for members of another type or value. Members that are in no row are ignored.
CodecSpec from_members(const Parameters& parameters, const Json& config);
/// All members of the table, without those that are optional and not set.
Json to_members(const Parameters& parameters, const CodecSpec& spec);
/// The same after {"id": zarr2_id}.
Json to_numcodecs(const Parameters& parameters, const CodecSpec& spec);

// As members of CodecRow. Results are deduced because Json is only declared here.
template <const Parameters& parameters>
CodecSpec parse_by(std::span<const std::string_view> arguments) {
  return parse_arguments(parameters, arguments);
}
template <const Parameters& parameters>
std::string print_by(const CodecSpec& spec) {
  return print_arguments(parameters, spec);
}
template <const Parameters& parameters>
CodecSpec from_json_by(const Json& config) {
  return from_members(parameters, config);
}
template <const Parameters& parameters>
auto to_zarr2_by(const CodecSpec& spec, std::size_t) {
  return to_numcodecs(parameters, spec);
}
template <const Parameters& parameters>
auto to_zarr3_by(const CodecSpec& spec, std::size_t) {
  return to_members(parameters, spec);
}

}  // namespace chunkwise
