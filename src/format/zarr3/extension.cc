#include "format/zarr3/extension.h"

#include <fmt/format.h>

#include <utility>

#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"

namespace chunkwise::zarr3 {

Extension parse_extension(const Json& value, const std::string& what) {
  if (value.is_string()) return {value.get<std::string>(), nullptr};
  if (!value.is_object()) {
    throw Error(Code::corrupt, fmt::format("'{}' is {}, neither a name nor an object", what, quote(value)));
  }
  const Json* name = find_member(value, "name");
  if (name == nullptr) throw Error(Code::corrupt, fmt::format("'{}' has no 'name'", what));
  Extension extension{need_string(*name, what + ".name"), find_member(value, "configuration")};
  if (extension.configuration != nullptr && !extension.configuration->is_object()) {
    throw Error(Code::corrupt, fmt::format("the configuration of '{}' is no object", what));
  }
  return extension;
}

const Json& need_configuration(const Extension& extension, const std::string& what, const char* name) {
  const Json* member = extension.configuration == nullptr ? nullptr : find_member(*extension.configuration, name);
  if (member == nullptr) throw Error(Code::corrupt, fmt::format("'{}' ({}) has no '{}'", what, extension.name, name));
  return *member;
}

Json named(std::string_view name, Json configuration) {
  Json extension = Json::object();
  extension["name"] = std::string(name);
  extension["configuration"] = std::move(configuration);
  return extension;
}

}  // namespace chunkwise::zarr3
