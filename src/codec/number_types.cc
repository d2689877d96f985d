#include "codec/number_types.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"

namespace chunkwise {
namespace {

constexpr const char* kDecoded = "dtype";
constexpr const char* kEncoded = "astype";

[[noreturn]] void refuse_type(const std::string& codec, const std::string& what) {
  throw Error(Code::unsupported, fmt::format("codec '{}' does not take elements of {}", codec, what));
}

Elements parse_type(const std::string& codec, const std::string& name) {
  const auto elements = parse_elements(name);
  if (!elements) refuse_type(codec, fmt::format("type '{}'", name));
  return *elements;
}

}  // namespace

NumberTypes number_types_of(const CodecSpec& spec, std::size_t element_bytes) {
  const std::string decoded = spec.text(kDecoded, fmt::format("u{}", element_bytes));
  return {parse_type(spec.name, decoded), parse_type(spec.name, spec.text(kEncoded, decoded))};
}

CodecSpec fit_number_types(const CodecSpec& spec, const Elements& elements) {
  CodecSpec fitted = spec;
  if (!spec.params.contains(kDecoded)) {
    if (elements.kind == ElementKind::opaque) refuse_type(spec.name, "this type");
    fitted.params[kDecoded] = to_string(elements);
  }
  if (!spec.params.contains(kEncoded)) fitted.params[kEncoded] = fitted.params[kDecoded];
  return fitted;
}

Elements number_elements(const CodecSpec& spec, const Elements& decoded) {
  if (!spec.params.contains(kDecoded) && !spec.params.contains(kEncoded)) return decoded;
  return number_types_of(spec, decoded.bytes).encoded;
}

void take_number_types(const Json& config, const NumberMembers& members, CodecSpec& spec) {
  const auto take = [&](const char* member, const char* key) {
    const std::string name = config_text(config, member, "", spec.name);
    if (!name.empty()) spec.params[key] = to_string(parse_type(spec.name, name));
  };
  take(members.decoded, kDecoded);
  take(members.encoded, kEncoded);
  if (spec.params.contains(kDecoded) && !spec.params.contains(kEncoded)) spec.params[kEncoded] = spec.params[kDecoded];
}

void put_number_types(const CodecSpec& spec, std::size_t element_bytes, const NumberMembers& members, Json& config) {
  const NumberTypes types = number_types_of(spec, element_bytes);
  config[members.decoded] = to_string(types.decoded);
  config[members.encoded] = to_string(types.encoded);
}

}  // namespace chunkwise
