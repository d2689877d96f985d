#include "format/zarr3/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"
#include "format/zarr3/extension.h"
#include "format/zarr3/grid.h"
#include "format/zarr3/types.h"

namespace chunkwise::zarr3 {
namespace {

class ArrayParser {
 public:
  explicit ArrayParser(const Json& document) : document_(document) {}

  ParsedArray parse() {
    check_version("array");
    meta_.shape = need_extents(need_member(document_, "shape"), "shape", 0);
    meta_.max_shape = meta_.shape;
    parse_type_member();
    if (const std::string why = parse_grid(need_member(document_, "chunk_grid"), meta_); !why.empty()) refuse(why);
    parse_keys();
    parse_codecs();
    parse_fill_member();
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

  void parse_type_member() {
    const Json& value = need_member(document_, "data_type");
    ParsedType type = parse_type(value);
    meta_.dtype = std::move(type.dtype);
    spelling_.type_json = dump_json(value);
    if (!type.unsupported.empty()) refuse(type.unsupported);
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
        to_bytes_seen = true;
        codec.name == "sharding_indexed" ? refuse("codec sharding_indexed") : take_byte_order(codec, what);
      } else {
        add_codec(codec, what, to_bytes_seen);
      }
    }
    if (!meta_.unsupported.empty()) return;
    if (!to_bytes_seen) throw Error(Code::corrupt, "'codecs' has no array-to-bytes codec");
    try {
      CodecChain(meta_.codecs, meta_.dtype.bytes);
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      refuse(error.message());
    }
  }

  void add_codec(const Extension& codec, const std::string& what, bool to_bytes_seen) {
    const CodecRow* row = find_codec_by_zarr3(codec.name);
    if (row == nullptr || row->from_zarr3 == nullptr) {
      refuse("codec " + quote_name(codec.name));
      meta_.codecs.push_back(CodecSpec{codec.name, {}});
      return;
    }
    if (!to_bytes_seen && meta_.unsupported.empty()) {
      throw Error(Code::corrupt, fmt::format("'{}' ({}) comes before the array-to-bytes codec", what, codec.name));
    }
    static const Json kNoConfiguration = Json::object();
    try {
      meta_.codecs.push_back(row->from_zarr3(codec.configuration == nullptr ? kNoConfiguration : *codec.configuration));
    } catch (Error& error) {
      throw error.in(fmt::format("'{}' ({})", what, codec.name));
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
  }

  void take_byte_order(const Extension& codec, const std::string& what) {
    const Json* endian = codec.configuration == nullptr ? nullptr : find_member(*codec.configuration, "endian");
    if (endian == nullptr || endian->is_null()) {
      // Structured types are little-endian if nothing is said: so they were written at first.
      if (word_bytes(meta_.dtype) > 1) {
        throw Error(Code::corrupt, fmt::format("'{}' (bytes) has no 'endian'", what));
      }
      return;
    }
    if (!is_value(*endian, "little") && !is_value(*endian, "big")) {
      throw Error(Code::corrupt,
                  fmt::format("the endian of '{}' is {}, neither 'little' nor 'big'", what, quote(*endian)));
    }
    const ByteOrder order = *endian == Json("big") ? ByteOrder::big : ByteOrder::little;
    if (word_bytes(meta_.dtype) > 1) meta_.layout.byte_order = order;
    member_order_ = order;
  }

  void parse_fill_member() {
    const Json& value = need_member(document_, "fill_value");
    spelling_.fill_json = dump_json(value);
    if (meta_.dtype.bytes == 0) return;
    meta_.fill = parse_fill(value, meta_.dtype);
    if (meta_.layout.byte_order != kNativeOrder) swap_words(word_bytes(meta_.dtype), meta_.fill);
    // The spelling of values knows nothing of how the codec "bytes" orders those of members.
    const DType little = meta_.dtype;
    set_member_order(meta_.dtype, member_order_);
    if (!meta_.dtype.members.empty()) reorder_members(little, meta_.dtype, meta_.fill);
    spelling_.dtype = meta_.dtype;
    spelling_.fill = meta_.fill;
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
      if (!transformers->empty())
        refuse("storage transformer " +
               quote_name(parse_extension(transformers->front(), "storage_transformers").name));
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
  ZarrArray::Spelling& spelling_ = array_.native.spelling;
  ByteOrder member_order_ = ByteOrder::little;
};

Json print_codecs(const ArrayMeta& meta) {
  Json codecs = Json::array();
  if (meta.layout.axes.rank() > 0) {
    Json order = std::vector<Index>(meta.layout.axes.begin(), meta.layout.axes.end());
    codecs.push_back(named("transpose", Json{{"order", std::move(order)}}));
  }
  if (word_bytes(meta.dtype) > 1 || has_byte_order(meta.dtype)) {
    const ByteOrder order = common_byte_order(meta.dtype).value_or(meta.layout.byte_order);
    codecs.push_back(named("bytes", Json{{"endian", order == ByteOrder::little ? "little" : "big"}}));
  } else {
    codecs.push_back(Json{{"name", "bytes"}});
  }
  for (const CodecSpec& codec : meta.codecs) {
    const CodecRow* row = find_codec(codec.name);
    CHUNKWISE_CHECK(row != nullptr && row->to_zarr3 != nullptr);
    Json configuration = row->to_zarr3(codec, meta.dtype.bytes);
    const std::string name(row->zarr3_name);
    // zarr-python refuses codecs of numcodecs without a configuration, even an empty one.
    if (configuration.empty()) configuration = Json::object();
    codecs.push_back(named(name.c_str(), std::move(configuration)));
  }
  return codecs;
}

// As it was spelled, if it is still the same.
Json spell_type(const ArrayMeta& meta, const ZarrArray::Spelling& spelling) {
  if (!spelling.type_json.empty() && meta.dtype == spelling.dtype) return parse_json(spelling.type_json);
  return print_type(meta.dtype);
}

Json spell_fill(const ArrayMeta& meta, const ZarrArray::Spelling& spelling) {
  std::vector<std::byte> fill = meta.fill;
  fill.resize(meta.dtype.bytes);
  const bool is_kept = !spelling.type_json.empty() && meta.dtype == spelling.dtype && fill == spelling.fill;
  if (is_kept) return parse_json(spelling.fill_json);
  if (meta.layout.byte_order != kNativeOrder) swap_words(word_bytes(meta.dtype), fill);
  return print_fill(meta.dtype, fill);
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
  document["data_type"] = spell_type(meta, native.spelling);
  document["chunk_grid"] =
      named("regular", Json{{"chunk_shape", std::vector<Index>(meta.chunk.begin(), meta.chunk.end())}});
  const char separator = native.separator != 0 ? native.separator : native.v2_keys ? '.' : '/';
  document["chunk_key_encoding"] =
      named(native.v2_keys ? "v2" : "default", Json{{"separator", std::string(1, separator)}});
  document["fill_value"] = spell_fill(meta, native.spelling);
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
