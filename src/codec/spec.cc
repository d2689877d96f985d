#include "codec/spec.h"

#include <fmt/format.h>

#include "base/error.h"
#include "codec/registry.h"

namespace chunkwise {

std::int64_t CodecSpec::integer(const std::string& key, std::int64_t otherwise) const {
  const auto found = params.find(key);
  if (found == params.end()) return otherwise;
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return *value;
  throw Error(Code::corrupt, fmt::format("codec '{}': {} must be an integer", name, key));
}

std::string CodecSpec::text(const std::string& key, const std::string& otherwise) const {
  const auto found = params.find(key);
  if (found == params.end()) return otherwise;
  if (const auto* value = std::get_if<std::string>(&found->second)) return *value;
  throw Error(Code::corrupt, fmt::format("codec '{}': {} must be a text", name, key));
}

std::string to_string(const CodecSpecs& specs) {
  if (specs.empty()) return "none";
  std::string text;
  for (const CodecSpec& spec : specs) {
    if (!text.empty()) text += ',';
    const CodecRow* row = find_codec(spec.name);
    text += row != nullptr ? row->print(spec) : spec.name;
  }
  return text;
}

}  // namespace chunkwise
