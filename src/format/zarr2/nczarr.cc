#include "format/zarr2/nczarr.h"

#include <algorithm>
#include <utility>

#include "array/dtype.h"
#include "array/json_fields.h"
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

}  // namespace

bool is_nczarr_name(std::string_view name) {
  const std::string folded = lower(name.substr(0, 16));
  return folded.substr(0, 7) == "_nczarr" || name == "_NCProperties";
}

void correct_nczarr(const Json& zarray, const Json& zattrs, ArrayMeta& meta) {
  const Json* array = find_key(zarray, zattrs, "_nczarr_array");
  if (array == nullptr) return;
  if (meta.dtype.kind == DType::Kind::utf32 && meta.dtype.bytes == 4) {
    meta.dtype = DType(DType::Kind::text, 1);
    meta.layout.byte_order = ByteOrder::little;
    if (!meta.fill.empty()) meta.fill.resize(1);
  }
  const Json* storage = find_member(*array, "storage");
  if (storage != nullptr && is_value(*storage, "scalar") && meta.shape == Shape{1} && meta.chunk == Shape{1})
    meta.shape = meta.max_shape = meta.chunk = Shape();
}

std::optional<std::vector<std::string>> nczarr_dims(const Json& zarray, const Json& zattrs, int rank) {
  const Json* array = find_key(zarray, zattrs, "_nczarr_array");
  const Json* names = array == nullptr ? nullptr : find_member(*array, "dimrefs");
  if (names == nullptr) names = array == nullptr ? nullptr : find_member(*array, "dimensions");
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
