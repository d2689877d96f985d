#include "format/zarr2/nczarr.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "array/dtype.h"
#include "array/json_fields.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/json.h"

namespace chunkwise::zarr2 {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Keys were upper case at first, and moved from the objects' own documents to the attributes later.
const Json* find_key(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    if (key.size() == name.size() && lower(key) == name) return &value;
  }
  return nullptr;
}

const Json* find_key(const Json& document, const Json& attributes, std::string_view name) {
  const Json* found = find_key(document, name);
  return found != nullptr ? found : find_key(attributes, name);
}

const Json* find_array(const Json& zarray, const Json& zattrs) {
  const Json* array = find_key(zarray, zattrs, "_nczarr_array");
  return array != nullptr && array->is_object() ? array : nullptr;
}

bool is_scalar(const Json& array) {
  const Json* storage = find_member(array, "storage");
  const Json* scalar = find_member(array, "scalar");
  return (storage != nullptr && *storage == Json("scalar")) ||
         (scalar != nullptr && (*scalar == Json(1) || *scalar == Json(true)));
}

constexpr std::array<NczarrObject, 4> kObjects = {{
    {".nczarray", ".zarray", "_nczarr_array"},
    {".nczgroup", ".zgroup", "_nczarr_group"},
    {".nczattr", ".zattrs", "_nczarr_attr"},
    {".nczattrs", ".zattrs", "_nczarr_attr"},
}};

}  // namespace

std::span<const NczarrObject> nczarr_objects() {
  return kObjects;
}

bool is_nczarr_array(const Json& zarray, const Json& zattrs) {
  return find_array(zarray, zattrs) != nullptr;
}

void restore_default_fill(Json& value) {
  if (value.is_number_float() && value.get<double>() == 9.96921e+36) value = 9.969209968386869e+36;
}

Json plain_zarray(const Json& zarray, const Json& zattrs) {
  const Json* array = find_array(zarray, zattrs);
  if (array == nullptr) return zarray;
  Json plain = zarray;
  const auto member = [&plain](const char* name) {
    const auto found = plain.find(name);
    return found == plain.end() ? nullptr : &*found;
  };
  Json* const fill = member("fill_value");
  if (fill != nullptr && fill->is_array() && fill->size() == 1) *fill = Json(fill->front());
  if (Json* const dtype = member("dtype"); dtype != nullptr && dtype->is_string()) {
    const std::string& type = dtype->get_ref<const std::string&>();
    const std::string_view kind = std::string_view(type).substr(std::min<std::size_t>(type.size(), 1));
    if (kind == "U1" || kind.substr(0, 1) == "S") {
      *dtype = fmt::format("|{}", kind == "U1" ? "S1" : kind);
      // Plain text, where Zarr has base64.
      if (fill != nullptr && fill->is_string()) *fill = to_base64(as_bytes(fill->get_ref<const std::string&>()));
    } else if ((kind == "f4" || kind == "f8") && fill != nullptr) {
      restore_default_fill(*fill);
    }
  }
  const Json one = Json::array({1});
  if (const Json* const shape = member("shape"); is_scalar(*array) && shape != nullptr && *shape == one) {
    plain["shape"] = Json::array();
    plain["chunks"] = Json::array();
  }
  return plain;
}

bool is_nczarr_name(std::string_view name) {
  const std::string folded = lower(name.substr(0, 16));
  return folded.substr(0, 7) == "_nczarr" || name == "_NCProperties";
}

std::optional<std::vector<std::string>> nczarr_dims(const Json& zarray, const Json& zattrs, int rank) {
  const Json* array = find_array(zarray, zattrs);
  if (array == nullptr) return std::nullopt;
  const Json* names = find_member(*array, "dimrefs");
  if (names == nullptr) names = find_member(*array, "dimension_references");
  if (names == nullptr || !names->is_array() || static_cast<int>(names->size()) != rank) return std::nullopt;
  std::vector<std::string> dims;
  for (const Json& name : *names) {
    if (!name.is_string()) return std::nullopt;
    dims.push_back(base_name(name.get<std::string>()));  // "/group/lat"
  }
  return dims;
}

std::vector<Dimension> nczarr_dimensions(const Json& zgroup, const Json& zattrs) {
  std::vector<Dimension> dimensions;
  const Json* group = find_key(zgroup, zattrs, "_nczarr_group");
  const Json* dims = group == nullptr ? nullptr : find_member(*group, "dims");
  if (dims == nullptr) dims = group == nullptr ? nullptr : find_member(*group, "dimensions");
  if (dims == nullptr || !dims->is_object()) return dimensions;
  for (const auto& [name, value] : dims->get_ref<const Json::object_t&>()) {
    const Json* size = value.is_object() ? find_member(value, "size") : &value;
    if (size == nullptr || !size->is_number_unsigned() || size->get<std::uint64_t>() > std::uint64_t{1} << 62) continue;
    const Json* unlimited = find_member(value, "unlimited");
    const bool grows = unlimited != nullptr && (*unlimited == Json(true) || *unlimited == Json(1));
    dimensions.push_back({name, static_cast<Index>(size->get<std::uint64_t>()), grows});
  }
  return dimensions;
}

NczarrMembers nczarr_members(const Json& zgroup, const Json& zattrs) {
  NczarrMembers members;
  const Json* group = find_key(zgroup, zattrs, "_nczarr_group");
  if (group == nullptr) return members;
  const auto take = [group](const char* key, std::vector<std::string>& out) {
    const Json* names = find_member(*group, key);
    if (names == nullptr || !names->is_array()) return;
    for (const Json& name : *names)
      if (name.is_string()) out.push_back(name.get<std::string>());
  };
  take("vars", members.arrays);
  take("arrays", members.arrays);
  take("groups", members.groups);
  return members;
}

Json nczarr_attribute_hints(const Json& zattrs) {
  const Json* attributes = find_key(zattrs, "_nczarr_attr");
  const Json* types = attributes == nullptr ? nullptr : find_member(*attributes, "types");
  if (types == nullptr || !types->is_object()) return Json(nullptr);
  Json hints = Json::object();
  for (const auto& [name, value] : types->get_ref<const Json::object_t&>()) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() < 3) continue;
    const std::string type = value.get<std::string>().substr(1);  // without the byte order
    // Attributes of netCDF are one-dimensional, but JSON lists of one number were written as the number.
    if (type == "U1" || type == "S1") {
      append_member(hints, name, "char");
    } else if (parse_dtype(type)) {
      append_member(
          hints, name,
          find_member(zattrs, name) != nullptr && !find_member(zattrs, name)->is_array() ? type + "[1]" : type);
    }
  }
  return hints;
}

}  // namespace chunkwise::zarr2
