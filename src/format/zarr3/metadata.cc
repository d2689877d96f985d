#include "format/zarr3/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "array/json_fields.h"
#include "array/scalar.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/foreign.h"
#include "codec/registry.h"

namespace chunkwise::zarr3 {
namespace {

struct CoreType {
  std::string_view name;
  std::string_view dtype;
};
constexpr std::array<CoreType, 12> kCoreTypes{{{"bool", "bool"},
                                               {"int8", "i1"},
                                               {"int16", "i2"},
                                               {"int32", "i4"},
                                               {"int64", "i8"},
                                               {"uint8", "u1"},
                                               {"uint16", "u2"},
                                               {"uint32", "u4"},
                                               {"uint64", "u8"},
                                               {"float16", "f2"},
                                               {"float32", "f4"},
                                               {"float64", "f8"}}};

constexpr std::string_view kFormat = "zarr3";
constexpr const char* kByteswap = "byteswap";
// Of codecs that are unknown here: where they stand.
constexpr const char* kBeforeBytes = "before_bytes";
constexpr const char* kMakesBytes = "makes_bytes";

// Texts of a fixed number of bytes, as zarr-python 3 registers them: {"length_bytes": 1}, the fill in base64.
constexpr const char* kTextType = "null_terminated_bytes";
constexpr std::uint64_t kMaxText_bytes = std::uint64_t{1} << 30;

// A named extension point: an object with a name and maybe a configuration, or the bare name.
struct Extension {
  std::string name;
  const Json* configuration = nullptr;  // null or an object
};

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

class ArrayParser {
 public:
  explicit ArrayParser(const Json& document) : document_(document) {}

  ParsedArray parse() {
    check_version("array");
    meta_.shape = need_extents(need_member(document_, "shape"), "shape", 0);
    meta_.max_shape = meta_.shape;
    parse_type();
    parse_grid();
    parse_keys();
    parse_codecs();
    parse_fill();
    parse_dims();
    parse_extensions();
    check_extents(meta_);
    return std::move(array_);
  }

 private:
  void refuse(const std::string& why) {
    if (meta_.unsupported.empty()) meta_.unsupported = why;
  }

  void check_version(const char* node_type) const {
    if (const Json& version = need_member(document_, "zarr_format"); !is_value(version, 3)) {
      throw Error(Code::corrupt, fmt::format("'zarr_format' is {}, not 3", quote(version)));
    }
    if (const Json& type = need_member(document_, "node_type"); !is_value(type, node_type)) {
      throw Error(Code::corrupt, fmt::format("'node_type' is {}, not '{}'", quote(type), node_type));
    }
  }

  void parse_type() {
    const Extension type = parse_extension(need_member(document_, "data_type"), "data_type");
    for (const CoreType& core : kCoreTypes) {
      if (core.name == type.name) meta_.dtype = *parse_dtype(core.dtype);
    }
    if (meta_.dtype.is_number()) return;
    if (type.name == kTextType) {
      const Json& length = need_configuration(type, "data_type", "length_bytes");
      const bool is_length = length.is_number_unsigned() && length.get<std::uint64_t>() - 1 < kMaxText_bytes;
      if (!is_length) throw Error(Code::corrupt, fmt::format("'length_bytes' of 'data_type' is {}", quote(length)));
      meta_.dtype = DType{DType::Kind::text, length.get<std::size_t>(), {}, false};
      return;
    }
    if (type.name.empty()) throw Error(Code::corrupt, "'data_type' is an empty name");
    meta_.dtype = DType{DType::Kind::other, 0, type.name, false};
    refuse("data type " + quote_name(type.name));
  }

  void parse_grid() {
    const Extension grid = parse_extension(need_member(document_, "chunk_grid"), "chunk_grid");
    if (grid.name != "regular") {
      refuse("chunk grid " + quote_name(grid.name));
      meta_.chunk = meta_.shape;
      for (Index& length : meta_.chunk) length = std::max<Index>(length, 1);
      return;
    }
    meta_.chunk = need_extents(need_configuration(grid, "chunk_grid", "chunk_shape"), "chunk_shape", 0);
    if (meta_.chunk.rank() != meta_.shape.rank()) {
      throw Error(Code::corrupt, fmt::format("'chunk_shape' has {} elements, but 'shape' has {}", meta_.chunk.rank(),
                                             meta_.shape.rank()));
    }
    for (int axis = 0; axis < meta_.shape.rank(); ++axis) {
      if (meta_.chunk[axis] == 0 && meta_.shape[axis] == 0) meta_.chunk[axis] = 1;
      if (meta_.chunk[axis] == 0) throw Error(Code::corrupt, "'chunk_shape' has the element 0");
    }
  }

  void parse_keys() {
    const Extension keys = parse_extension(need_member(document_, "chunk_key_encoding"), "chunk_key_encoding");
    array_.native.v2_keys = keys.name == "v2";
    if (keys.name != "default" && keys.name != "v2") {
      refuse("chunk key encoding " + quote_name(keys.name));
      array_.has_keys = false;
      return;
    }
    array_.native.separator = array_.native.v2_keys ? '.' : '/';
    const Json* separator = keys.configuration == nullptr ? nullptr : find_member(*keys.configuration, "separator");
    if (separator == nullptr) return;
    if (!is_value(*separator, ".") && !is_value(*separator, "/")) {
      throw Error(Code::corrupt,
                  fmt::format("the separator of 'chunk_key_encoding' is {}, neither '.' nor '/'", quote(*separator)));
    }
    array_.native.separator = separator->get_ref<const std::string&>()[0];
  }

  void parse_codecs() {
    const Json& list = need_member(document_, "codecs");
    if (!list.is_array() || list.empty()) {
      throw Error(Code::corrupt, fmt::format("'codecs' is {}, not a list of codecs", quote(list)));
    }
    bool to_bytes_seen = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string what = fmt::format("codecs[{}]", i);
      const Extension codec = parse_extension(list[i], what);
      if (codec.name == "transpose") {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' (transpose) comes after the bytes", what));
        transpose(codec, what);
      } else if (codec.name == "bytes" || codec.name == "endian" || codec.name == "sharding_indexed") {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' is a second array-to-bytes codec", what));
        for (const CodecSpec& before : meta_.codecs) require_of_arrays(before, what);
        to_bytes_seen = true;
        codec.name == "sharding_indexed" ? refuse("codec sharding_indexed") : take_byte_order(codec, what);
      } else {
        add_codec(codec, list[i], what, to_bytes_seen);
      }
    }
    if (!to_bytes_seen) mark_without_bytes();
    if (!meta_.unsupported.empty()) return;
    try {
      CodecChain(meta_.codecs, meta_.dtype.bytes);
    } catch (const Error& error) {
      // What cannot be decoded here is refused when it must be.
      if (error.code() != Code::unsupported) throw;
    }
  }

  // A codec that is unknown here must be the one that makes bytes of the array.
  void mark_without_bytes() {
    const auto is_foreign = [](const CodecSpec& codec) { return is_foreign_to(kFormat, codec.name); };
    const auto first = std::find_if(meta_.codecs.begin(), meta_.codecs.end(), is_foreign);
    if (first == meta_.codecs.end()) {
      if (meta_.unsupported.empty()) throw Error(Code::corrupt, "'codecs' has no array-to-bytes codec");
      return;
    }
    first->params[kMakesBytes] = std::int64_t{1};
  }

  // Parameters that are not told follow the elements of the array.
  void add_codec(const Extension& codec, const Json& document, const std::string& what, bool& to_bytes_seen) {
    const CodecRow* row = find_codec_by_zarr3(codec.name);
    if (row != nullptr && row->from_zarr3 != nullptr) {
      check_place(row->zarr3_place, codec, what, to_bytes_seen);
      static const Json kNoConfiguration = Json::object();
      try {
        CodecSpec spec = row->from_zarr3(codec.configuration == nullptr ? kNoConfiguration : *codec.configuration);
        if (row->for_chunk != nullptr) spec = row->for_chunk(spec, {meta_.chunk, codec_elements(meta_)});
        meta_.codecs.push_back(std::move(spec));
        to_bytes_seen = to_bytes_seen || row->zarr3_place == Zarr3Place::array_to_bytes;
        return;
      } catch (Error& error) {
        if (error.code() != Code::unsupported) throw error.in(fmt::format("'{}' ({})", what, codec.name));
      }
    }
    // Chunks can still be copied as they are.
    meta_.codecs.push_back(foreign_codec(kFormat, codec.name, document));
    if (!to_bytes_seen) meta_.codecs.back().params[kBeforeBytes] = std::int64_t{1};
  }

  static void require_of_arrays(const CodecSpec& codec, const std::string& what) {
    const CodecRow* row = find_codec(codec.name);
    if (row == nullptr || row->zarr3_place == Zarr3Place::array_to_array) return;
    throw Error(Code::corrupt, fmt::format("'{}' (bytes) comes after {}", what, codec.name));
  }

  void check_place(Zarr3Place place, const Extension& codec, const std::string& what, bool to_bytes_seen) const {
    const bool after_unknown = std::any_of(meta_.codecs.begin(), meta_.codecs.end(),
                                           [](const CodecSpec& before) { return is_foreign_to(kFormat, before.name); });
    if (place == Zarr3Place::bytes_to_bytes && !to_bytes_seen && !after_unknown) {
      throw Error(Code::corrupt, fmt::format("'{}' ({}) comes before the array-to-bytes codec", what, codec.name));
    }
    if (place != Zarr3Place::bytes_to_bytes && to_bytes_seen) {
      throw Error(Code::corrupt, fmt::format("'{}' ({}) comes after the array-to-bytes codec", what, codec.name));
    }
  }

  void transpose(const Extension& codec, const std::string& what) {
    const int rank = meta_.shape.rank();
    const Json& member = need_configuration(codec, what, "order");
    Shape order;
    if (member == Json("C") || member == Json("F")) {  // early stores
      for (int axis = 0; axis < rank; ++axis) order.push_back(member == Json("C") ? axis : rank - 1 - axis);
    } else {
      order = need_extents(member, what + ".order", 0);
    }
    Shape sorted = order;
    std::sort(sorted.begin(), sorted.end());
    bool is_permutation = sorted.rank() == rank;
    for (int axis = 0; axis < sorted.rank() && is_permutation; ++axis) is_permutation = sorted[axis] == axis;
    if (!is_permutation) {
      throw Error(Code::corrupt,
                  fmt::format("the order of '{}' is {}, no permutation of {} axes", what, quote(member), rank));
    }
    Shape axes;
    bool identity = true;
    for (int axis = 0; axis < rank; ++axis) {
      const auto before = static_cast<int>(order[axis]);
      axes.push_back(meta_.layout.axes.rank() == 0 ? before : meta_.layout.axes[before]);
      identity = identity && axes[axis] == axis;
    }
    meta_.layout.axes = identity ? Shape() : axes;
    // Here elements are put in order first; codecs of single numbers do not mind.
    if (!identity && !meta_.codecs.empty()) {
      const std::string& before = meta_.codecs.back().name;
      if (before != "astype" && before != "quantize" && before != "fixedscaleoffset" && before != "bitround") {
        refuse(fmt::format("transpose after {}", quote_name(before)));
      }
    }
  }

  void take_byte_order(const Extension& codec, const std::string& what) {
    const Json* endian = codec.configuration == nullptr ? nullptr : find_member(*codec.configuration, "endian");
    if (endian == nullptr || endian->is_null()) {
      if (meta_.dtype.is_number() && meta_.dtype.bytes > 1) {
        throw Error(Code::corrupt, fmt::format("'{}' (bytes) has no 'endian'", what));
      }
      return;
    }
    if (!is_value(*endian, "little") && !is_value(*endian, "big")) {
      throw Error(Code::corrupt,
                  fmt::format("the endian of '{}' is {}, neither 'little' nor 'big'", what, quote(*endian)));
    }
    const ByteOrder order = is_value(*endian, "big") ? ByteOrder::big : ByteOrder::little;
    if (meta_.codecs.empty()) {
      meta_.layout.byte_order = meta_.dtype.bytes > 1 ? order : ByteOrder::little;
      return;
    }
    // Codecs before this one compute with numbers in the order of little-endian machines, and make others.
    Elements seen = codec_elements(meta_);
    for (const CodecSpec& before : meta_.codecs) seen = encoded_elements(before, seen);
    if (seen.bytes > 1 && seen.byte_order != order) {
      meta_.codecs.push_back(CodecSpec{"byteswap", {{"element_bytes", static_cast<std::int64_t>(seen.bytes)}}});
    }
  }

  void parse_fill() {
    const Json& value = need_member(document_, "fill_value");
    if (!meta_.dtype.is_plain()) return;
    meta_.fill = in_order(fill_from_json(value, meta_.dtype), meta_.dtype, meta_.layout.byte_order);
  }

  void parse_dims() {
    const Json* names = find_member(document_, "dimension_names");
    if (names == nullptr || names->is_null()) return;
    if (!names->is_array() || static_cast<int>(names->size()) != meta_.shape.rank()) {
      throw Error(Code::corrupt,
                  fmt::format("'dimension_names' is {}, not a list of {} names", quote(*names), meta_.shape.rank()));
    }
    for (const Json& name : *names) {
      meta_.dims.push_back(name.is_null() ? std::string() : need_string(name, "dimension_names"));
    }
    const bool any = std::any_of(meta_.dims.begin(), meta_.dims.end(), [](const auto& n) { return !n.empty(); });
    if (!any) meta_.dims.clear();
  }

  void parse_extensions() {
    static constexpr std::array<std::string_view, 12> kKnown{
        "zarr_format", "node_type", "shape",      "data_type",       "chunk_grid",           "chunk_key_encoding",
        "fill_value",  "codecs",    "attributes", "dimension_names", "storage_transformers", "consolidated_metadata"};
    if (const Json* transformers = find_member(document_, "storage_transformers")) {
      if (!transformers->is_array()) {
        throw Error(Code::corrupt, fmt::format("'storage_transformers' is {}, not a list", quote(*transformers)));
      }
      if (!transformers->empty()) refuse("storage transformers");
    }
    for (const auto& [name, value] : document_.get_ref<const Json::object_t&>()) {
      if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) continue;
      const Json* needed = find_member(value, "must_understand");
      if (needed == nullptr || !is_false(*needed))
        refuse(fmt::format("extension {} in the metadata", quote_name(name)));
    }
  }

  const Json& document_;
  ParsedArray array_;
  ArrayMeta& meta_ = array_.meta;
};

Json named(const char* name, Json configuration) {
  Json extension = Json::object();
  extension["name"] = name;
  extension["configuration"] = std::move(configuration);
  return extension;
}

Zarr3Place place_of(const CodecSpec& codec) {
  if (codec.name == kByteswap) return Zarr3Place::array_to_array;
  if (codec.params.contains(kMakesBytes)) return Zarr3Place::array_to_bytes;
  if (codec.params.contains(kBeforeBytes)) return Zarr3Place::array_to_array;
  const CodecRow* row = find_codec(codec.name);
  return row != nullptr ? row->zarr3_place : Zarr3Place::bytes_to_bytes;
}

Json print_codec(const CodecSpec& codec, std::size_t element_bytes) {
  if (is_foreign_to(kFormat, codec.name)) return foreign_metadata(codec);
  const CodecRow* row = find_codec(codec.name);
  CHUNKWISE_CHECK(row != nullptr && row->to_zarr3 != nullptr);
  Json configuration = row->to_zarr3(codec, element_bytes);
  const std::string name(row->zarr3_name_of != nullptr ? row->zarr3_name_of(codec) : row->zarr3_name);
  // zarr-python refuses codecs of numcodecs without a configuration, even an empty one.
  if (configuration.empty()) configuration = Json::object();
  return named(name.c_str(), std::move(configuration));
}

Json print_codecs(const ArrayMeta& meta) {
  Json codecs = Json::array();
  if (meta.layout.axes.rank() > 0) {
    Json order = std::vector<Index>(meta.layout.axes.begin(), meta.layout.axes.end());
    codecs.push_back(named("transpose", Json{{"order", std::move(order)}}));
  }
  // Codecs of arrays, then how the array becomes bytes, then codecs of bytes.
  Elements seen = codec_elements(meta);
  auto at = meta.codecs.begin();
  bool makes_bytes = false;
  for (; at != meta.codecs.end() && !makes_bytes && place_of(*at) != Zarr3Place::bytes_to_bytes; ++at) {
    makes_bytes = place_of(*at) == Zarr3Place::array_to_bytes;
    if (at->name != kByteswap) codecs.push_back(print_codec(*at, seen.bytes));
    seen = encoded_elements(*at, seen);
  }
  if (!makes_bytes) {
    // A codec of arrays may make bytes of numbers and numbers of bytes; zarr-python wants the order for either.
    const bool has_order = meta.dtype.element().word_bytes > 1 || seen.bytes > 1;
    const ByteOrder order = seen.bytes > 1 ? seen.byte_order : meta.layout.byte_order;
    codecs.push_back(has_order ? named("bytes", Json{{"endian", order == ByteOrder::little ? "little" : "big"}})
                               : Json{{"name", "bytes"}});
  }
  for (; at != meta.codecs.end(); ++at) {
    codecs.push_back(print_codec(*at, seen.bytes));
    seen = encoded_elements(*at, seen);
  }
  return codecs;
}

}  // namespace

ParsedArray parse_array(const Json& document) {
  return ArrayParser(document).parse();
}

std::string check_group(const Json& document) {
  static constexpr std::array<std::string_view, 4> kKnown{"zarr_format", "node_type", "attributes",
                                                          "consolidated_metadata"};
  if (const Json& version = need_member(document, "zarr_format"); !is_value(version, 3)) {
    throw Error(Code::corrupt, fmt::format("'zarr_format' is {}, not 3", quote(version)));
  }
  for (const auto& [name, value] : document.get_ref<const Json::object_t&>()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) continue;
    const Json* needed = find_member(value, "must_understand");
    if (needed == nullptr || !is_false(*needed)) return name;
  }
  return {};
}

Json print_array(const ArrayMeta& meta, const ZarrArray& native, Json attributes) {
  Json document = Json::object();
  document["shape"] = std::vector<Index>(meta.shape.begin(), meta.shape.end());
  const bool is_text = meta.dtype.kind == DType::Kind::text;
  const auto type = std::find_if(kCoreTypes.begin(), kCoreTypes.end(),
                                 [&](const CoreType& core) { return core.dtype == meta.dtype.name(); });
  CHUNKWISE_CHECK(is_text || type != kCoreTypes.end());
  document["data_type"] =
      is_text ? named(kTextType, Json{{"length_bytes", meta.dtype.bytes}}) : Json(std::string(type->name));
  document["chunk_grid"] =
      named("regular", Json{{"chunk_shape", std::vector<Index>(meta.chunk.begin(), meta.chunk.end())}});
  const char separator = native.separator != 0 ? native.separator : native.v2_keys ? '.' : '/';
  document["chunk_key_encoding"] =
      named(native.v2_keys ? "v2" : "default", Json{{"separator", std::string(1, separator)}});
  const std::vector<std::byte> zero(meta.dtype.bytes);
  const std::vector<std::byte>& fill = meta.fill.empty() ? zero : meta.fill;
  document["fill_value"] = fill_to_json(meta.dtype, from_order(fill, meta.dtype, meta.layout.byte_order), true);
  document["codecs"] = print_codecs(meta);
  document["attributes"] = std::move(attributes);
  if (!meta.dims.empty()) {
    Json names = Json::array();
    for (const std::string& name : meta.dims) names.push_back(name.empty() ? Json(nullptr) : Json(name));
    document["dimension_names"] = std::move(names);
  }
  document["zarr_format"] = 3;
  document["node_type"] = "array";
  document["storage_transformers"] = Json::array();
  return document;
}

Json print_group(Json attributes) {
  Json document = Json::object();
  document["attributes"] = std::move(attributes);
  document["zarr_format"] = 3;
  document["node_type"] = "group";
  return document;
}

}  // namespace chunkwise::zarr3
