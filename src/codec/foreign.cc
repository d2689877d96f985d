#include "codec/foreign.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json.h"
#include "codec/filter_names.h"

namespace chunkwise {
namespace {

constexpr const char* kMetadata = "metadata";  // as JSON

}  // namespace

CodecSpec foreign_codec(std::string_view format, const std::string& name, const Json& metadata) {
  return {fmt::format("{}:{}", format, name), {{kMetadata, dump_json(metadata)}}};
}

bool is_foreign_to(std::string_view format, std::string_view codec_name) {
  return codec_name.size() > format.size() && codec_name.starts_with(format) && codec_name[format.size()] == ':';
}

Json foreign_metadata(const CodecSpec& spec) {
  return parse_json(spec.text(kMetadata, "null"));
}

std::string describe_unknown(const CodecSpec& spec) {
  for (const char* format : {"zarr2", "zarr3"}) {
    if (is_foreign_to(format, spec.name)) return fmt::format("codec '{}'", spec.name.substr(spec.name.find(':') + 1));
  }
  constexpr std::string_view kPrefix = "hdf5-";
  if (!spec.name.starts_with(kPrefix)) return fmt::format("codec '{}'", spec.name);
  const std::string number = spec.name.substr(kPrefix.size());
  int filter = 0;
  std::from_chars(number.data(), number.data() + number.size(), filter);
  std::string label(filter_name(filter));
  if (label.empty()) label = spec.text("label", "");
  return label.empty() ? fmt::format("filter {}", number) : fmt::format("filter {} ({})", number, label);
}

}  // namespace chunkwise
