#include "format/zarr2/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "array/fill_json.h"
#include "array/json_fields.h"
#include "array/numpy_type.h"
#include "array/scalar.h"
#include "array/zarr_adapt.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/foreign.h"
#include "codec/registry.h"
#include "format/zarr2/object_codec.h"

namespace chunkwise::zarr2 {
namespace {

constexpr const char* kFilters = "filters";
constexpr const char* kCompressor = "compressor";

void refuse(ArrayMeta& meta, const std::string& why) {
  if (meta.unsupported.empty()) meta.unsupported = why;
}

void parse_dtype_member(const Json& value, ArrayMeta& meta) {
  NumpyType type = parse_numpy_type(value);
  meta.dtype = std::move(type.dtype);
  meta.layout.byte_order = type.byte_order;
  if (!type.unsupported.empty()) refuse(meta, type.unsupported);
}

CodecSpec parse_codec(const Json& config, const char* what) {
  if (!config.is_object()) throw Error(Code::corrupt, fmt::format("'{}' is {}, not an object", what, quote(config)));
  const Json* id_member = find_member(config, "id");
  if (id_member == nullptr) throw Error(Code::corrupt, fmt::format("'{}' has no 'id'", what));
  const std::string& id = need_string(*id_member, fmt::format("{}.id", what));
  const CodecRow* row = find_codec_by_zarr2(id);
  if (row != nullptr && row->from_zarr2 != nullptr) {
    try {
      return row->from_zarr2(config);
    } catch (Error& error) {
      if (error.code() != Code::unsupported) throw error.in(fmt::format("codec '{}' of '{}'", id, what));
    }
  }
  // Chunks can still be copied as they are.
  CodecSpec foreign = foreign_codec("zarr2", id, config);
  if (std::string_view(what) == kCompressor) foreign.params[kCompressor] = std::int64_t{1};
  return foreign;
}

void parse_codecs(const Json& document, ArrayMeta& meta, ZarrArray& native) {
  const Json& filters = need_member(document, kFilters);
  if (!filters.is_null()) {
    if (!filters.is_array()) {
      throw Error(Code::corrupt, fmt::format("'filters' is {}, neither a list nor null", quote(filters)));
    }
  }
  const bool are_objects = meta.dtype.kind == DType::Kind::other && meta.dtype.other == "|O";
  const std::size_t n_filters = filters.size();
  if (are_objects) parse_object_codec(n_filters == 0 ? nullptr : &filters[0], meta, native);
  for (std::size_t i = are_objects ? 1 : 0; i < n_filters; ++i)
    meta.codecs.push_back(parse_codec(filters[i], kFilters));
  const Json& compressor = need_member(document, kCompressor);
  if (!compressor.is_null()) meta.codecs.push_back(parse_codec(compressor, kCompressor));
  if (!meta.unsupported.empty()) return;
  try {
    CodecChain(meta.codecs, meta.dtype.codec_bytes());
  } catch (const Error& error) {
    // What cannot be decoded here is refused when it must be.
    if (error.code() != Code::unsupported) throw;
  }
}

void parse_fill(const Json& document, ParsedArray& array) {
  const Json& value = need_member(document, "fill_value");
  array.native.fill_json = dump_json(value);
  const DType& dtype = array.meta.dtype;
  if (value.is_null() || dtype.bytes == 0) return;
  if (dtype.kind == DType::Kind::other) {
    if (value != Json(0)) refuse(array.meta, fmt::format("a fill_value of type {}", dtype.name()));
    array.meta.fill.resize(dtype.bytes);
    return;
  }
  const auto native = fill_from_json(value, dtype);
  array.meta.fill = in_order(native, array.meta.dtype, array.meta.layout.byte_order);
}

bool is_zero(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

Json print_codec(const CodecSpec& codec, std::size_t element_bytes) {
  if (is_foreign_to("zarr2", codec.name)) return foreign_metadata(codec);
  const CodecRow* row = find_codec(codec.name);
  CHUNKWISE_CHECK(row != nullptr && row->to_zarr2 != nullptr);
  return row->to_zarr2(codec, element_bytes);
}

// Codecs that do not compress stand among the filters even when they come last.
bool is_compressor(const CodecSpec& codec) {
  if (is_foreign_to("zarr2", codec.name)) return codec.params.contains(kCompressor);
  return role_of(codec) == CodecRole::compressor;
}

// Filters, then the compressor if there is one.
void print_codecs(const ArrayMeta& meta, const ZarrArray& native, Json& document) {
  Json filters = Json::array();
  if (meta.dtype.is_varying()) filters.push_back(print_object_codec(meta, native));
  document[kFilters] = nullptr;
  document[kCompressor] = nullptr;
  Elements seen = codec_elements(meta);
  for (std::size_t i = 0; i < meta.codecs.size(); ++i) {
    const CodecSpec& codec = meta.codecs[i];
    Json printed = print_codec(codec, seen.bytes);
    seen = encoded_elements(codec, seen);
    if (i + 1 == meta.codecs.size() && is_compressor(codec)) {
      document[kCompressor] = std::move(printed);
    } else {
      filters.push_back(std::move(printed));
    }
  }
  if (!filters.empty()) document[kFilters] = std::move(filters);
}

}  // namespace

ParsedArray parse_zarray(const Json& document) {
  ParsedArray array;
  ArrayMeta& meta = array.meta;
  if (const Json& version = need_member(document, "zarr_format"); !is_value(version, 2)) {
    throw Error(Code::corrupt, fmt::format("'zarr_format' is {}, not 2", quote(version)));
  }
  meta.shape = need_extents(need_member(document, "shape"), "shape", 0);
  meta.max_shape = meta.shape;
  meta.chunk = need_extents(need_member(document, "chunks"), "chunks", 0);
  if (meta.chunk.rank() != meta.shape.rank()) {
    throw Error(Code::corrupt,
                fmt::format("'chunks' has {} elements, but 'shape' has {}", meta.chunk.rank(), meta.shape.rank()));
  }
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    // Some writers give empty axes empty chunks.
    if (meta.chunk[axis] == 0 && meta.shape[axis] == 0) meta.chunk[axis] = 1;
    if (meta.chunk[axis] == 0) throw Error(Code::corrupt, "'chunks' has the element 0");
  }
  parse_dtype_member(need_member(document, "dtype"), meta);
  const std::string& order = need_string(need_member(document, "order"), "order");
  if (order != "C" && order != "F") {
    throw Error(Code::corrupt, fmt::format("'order' is {}, neither 'C' nor 'F'", quote(Json(order))));
  }
  array.native.order_f = order == "F";
  if (array.native.order_f && meta.shape.rank() > 1) {
    for (int axis = meta.shape.rank() - 1; axis >= 0; --axis) meta.layout.axes.push_back(axis);
  }
  if (const Json* separator = find_member(document, "dimension_separator")) {
    const std::string& text = need_string(*separator, "dimension_separator");
    if (text != "." && text != "/") {
      throw Error(Code::corrupt, fmt::format("'dimension_separator' is {}, neither '.' nor '/'", quote(*separator)));
    }
    array.native.separator = text[0];
  }
  parse_codecs(document, meta, array.native);
  parse_fill(document, array);
  check_extents(meta);
  return array;
}

Json print_zarray(const ArrayMeta& meta, const ZarrArray& native, const Json& fill_value) {
  Json document = Json::object();
  document["shape"] = std::vector<Index>(meta.shape.begin(), meta.shape.end());
  document["chunks"] = std::vector<Index>(meta.chunk.begin(), meta.chunk.end());
  document["dtype"] = meta.dtype.is_varying() ? Json("|O") : print_numpy_type(meta.dtype, meta.layout.byte_order);
  document["fill_value"] = fill_value;
  const bool order_f = meta.layout.axes.rank() > 1 || (native.order_f && meta.shape.rank() < 2);
  document["order"] = order_f ? "F" : "C";
  document["dimension_separator"] = std::string(1, native.separator == 0 ? '.' : native.separator);
  print_codecs(meta, native, document);
  document["zarr_format"] = 2;
  return document;
}

Json choose_fill(const ArrayNode& node, const ZarrArray& native) {
  const ArrayMeta& meta = node.meta;
  if (const auto mask = mask_value(node)) return fill_to_json(meta.dtype, *mask, FillStyle::zarr2);
  // zarr-python 2 leaves missing chunks undefined where nothing is told, so zero is told too, if that cannot mask.
  const bool can_mask = !meta.dims.empty() || native.has_dimension_list;
  if (meta.fill.empty() || !native.has_absent_chunks || (is_zero(meta.fill) && can_mask)) return Json(nullptr);
  return fill_to_json(meta.dtype, from_order(meta.fill, meta.dtype, meta.layout.byte_order), FillStyle::zarr2);
}

}  // namespace chunkwise::zarr2
