#include "format/zarr2/object_codec.h"

#include <fmt/format.h>

#include "array/json_fields.h"
#include "array/numpy_type.h"
#include "base/error.h"
#include "base/json.h"

namespace chunkwise::zarr2 {
namespace {

constexpr const char* kTexts = "vlen-utf8";
constexpr const char* kBytes = "vlen-bytes";
constexpr const char* kLists = "vlen-array";

void parse_lists(const Json& filter, ArrayMeta& meta) {
  const Json* member = find_member(filter, "dtype");
  if (member == nullptr) throw Error(Code::corrupt, "the filter 'vlen-array' has no 'dtype'");
  const NumpyType item = parse_numpy_type(*member);
  if (!item.dtype.is_number()) {
    meta.unsupported = fmt::format("lists of type {}", item.dtype.name());
    return;
  }
  meta.dtype = list_type(item.dtype);
  meta.layout.byte_order = item.byte_order;
}

}  // namespace

void parse_object_codec(const Json* filter, ArrayMeta& meta, ZarrArray& native) {
  if (filter == nullptr) {
    meta.unsupported = "objects without a filter that tells what they are";
    return;
  }
  if (!filter->is_object()) throw Error(Code::corrupt, fmt::format("'filters' has {}, not an object", quote(*filter)));
  const std::string& id = need_string(need_member(*filter, "id"), "filters.id");
  meta.unsupported.clear();
  native.object_codec = dump_json(*filter);
  if (id == kTexts) {
    meta.dtype = string_type();
  } else if (id == kBytes) {
    meta.dtype = list_type(*parse_dtype("u1"));
  } else if (id == kLists) {
    parse_lists(*filter, meta);
  } else if (id == "json2" || id == "msgpack2") {
    meta.dtype = DType(DType::Kind::object, kVaryingBytes);
    meta.dtype.other = fmt::format("objects ({})", id);
  } else {
    // What pickle makes are programs, which nobody should copy on.
    meta.unsupported = "objects of the codec " + quote_name(id);
  }
}

Json print_object_codec(const ArrayMeta& meta, const ZarrArray& native) {
  if (!native.object_codec.empty()) return parse_json(native.object_codec);
  if (meta.dtype.kind == DType::Kind::string) return Json{{"id", kTexts}};
  CHUNKWISE_CHECK(meta.dtype.kind == DType::Kind::list);
  return Json{{"dtype", print_numpy_type(meta.dtype.item(), meta.layout.byte_order)}, {"id", kLists}};
}

bool has_object_codec(const DType& dtype) {
  return dtype.kind == DType::Kind::string || dtype.kind == DType::Kind::object || dtype.kind == DType::Kind::list;
}

}  // namespace chunkwise::zarr2
