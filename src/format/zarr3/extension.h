// Named extension points of zarr.json.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace chunkwise::zarr3 {

/// An object with a name and maybe a configuration, or the bare name.
struct Extension {
  std::string name;
  const Json* configuration = nullptr;  // null or an object
};

/// `what` names the member in errors. Throws Error{corrupt}.
Extension parse_extension(const Json& value, const std::string& what);
/// A member of the configuration; Error{corrupt} if there is none.
const Json& need_configuration(const Extension& extension, const std::string& what, const char* name);
/// {"name": name, "configuration": configuration}
Json named(std::string_view name, Json configuration);

}  // namespace chunkwise::zarr3
