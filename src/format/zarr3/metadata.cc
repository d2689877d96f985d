#include "format/zarr3/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "array/json_fields.h"
#include "array/scalar.h"
#include "array/shard_index.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
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

// Texts of a fixed number of bytes, as zarr-python 3 registers them: {"length_bytes": 1}, the fill in base64.
constexpr const char* kTextType = "null_terminated_bytes";
constexpr std::uint64_t kMaxText_bytes = std::uint64_t{1} << 30;

constexpr std::string_view kShardCodec = "sharding_indexed";
/// Two are known to occur.
constexpr std::size_t kMostShardLevels = 8;

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
    parse_chain(need_member(document_, "codecs"), "codecs");
    if (!meta_.unsupported.empty()) return;
    try {
      CodecChain(meta_.codecs, meta_.dtype.bytes);
      shard_index_forms(meta_);
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      refuse(error.message());
    }
  }

  // The codecs of the array, or those inside a shard.
  void parse_chain(const Json& list, const std::string& name) {
    if (!list.is_array() || list.empty()) {
      throw Error(Code::corrupt, fmt::format("'{}' is {}, not a list of codecs", name, quote(list)));
    }
    bool to_bytes_seen = false;
    bool holds_shards = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string what = fmt::format("{}[{}]", name, i);
      const Extension codec = parse_extension(list[i], what);
      if (codec.name == "transpose") {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' (transpose) comes after the bytes", what));
        transpose(codec, what);
      } else if (codec.name == "bytes" || codec.name == "endian" || codec.name == kShardCodec) {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' is a second array-to-bytes codec", what));
        to_bytes_seen = true;
        holds_shards = codec.name == kShardCodec;
        holds_shards ? parse_shards(codec, what) : take_byte_order(codec, what);
      } else if (holds_shards) {
        refuse(fmt::format("codec {} around whole shards", quote_name(codec.name)));
      } else {
        add_codec(codec, what, to_bytes_seen);
      }
    }
    if (meta_.unsupported.empty() && !to_bytes_seen) {
      throw Error(Code::corrupt, fmt::format("'{}' has no array-to-bytes codec", name));
    }
  }

  // Up to here meta_.chunk is the shard; it becomes what the shard holds.
  void parse_shards(const Extension& codec, const std::string& what) {
    if (!meta_.unsupported.empty()) return;
    if (meta_.shards.size() == kMostShardLevels) return refuse("shards inside shards, many times over");
    ShardLevel level;
    level.shape = meta_.chunk;
    level.index_axes = meta_.layout.axes;
    const Shape part = need_extents(need_configuration(codec, what, "chunk_shape"), what + ".chunk_shape", 0);
    if (part.rank() != meta_.shape.rank()) {
      throw Error(Code::corrupt, fmt::format("'{}.chunk_shape' has {} elements, but 'shape' has {}", what, part.rank(),
                                             meta_.shape.rank()));
    }
    for (int i = 0; i < part.rank(); ++i) {
      const int axis = level.index_axes.rank() == 0 ? i : static_cast<int>(level.index_axes[i]);
      const Index length = part[i] == 0 && meta_.shape[axis] == 0 ? 1 : part[i];
      if (length == 0 || level.shape[axis] % length != 0) {
        throw Error(Code::corrupt, fmt::format("'{}.chunk_shape' has {}, which does not divide the {} of the shard",
                                               what, length, level.shape[axis]));
      }
      meta_.chunk[axis] = length;
    }
    if (const Json* location = find_member(*codec.configuration, "index_location")) {
      level.index_at_start = is_value(*location, "start");
      if (!level.index_at_start && !is_value(*location, "end")) {
        throw Error(Code::corrupt,
                    fmt::format("'{}.index_location' is {}, neither 'start' nor 'end'", what, quote(*location)));
      }
    }
    parse_index_codecs(need_configuration(codec, what, "index_codecs"), what + ".index_codecs", level);
    meta_.shards.push_back(level);
    parse_chain(need_configuration(codec, what, "codecs"), what + ".codecs");
  }

  void parse_index_codecs(const Json& list, const std::string& name, ShardLevel& level) {
    if (!list.is_array() || list.empty()) {
      throw Error(Code::corrupt, fmt::format("'{}' is {}, not a list of codecs", name, quote(list)));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string what = fmt::format("{}[{}]", name, i);
      const Extension codec = parse_extension(list[i], what);
      if (i == 0 && (codec.name == "bytes" || codec.name == "endian")) {
        level.index_order = parse_endian(need_configuration(codec, what, "endian"), what);
      } else if (i > 0 && codec.name == "crc32c") {
        level.index_codecs.push_back(CodecSpec{"crc32c", {}});
      } else {
        refuse(fmt::format("codec {} of the index of shards", quote_name(codec.name)));
      }
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

  static ByteOrder parse_endian(const Json& endian, const std::string& what) {
    if (is_value(endian, "big")) return ByteOrder::big;
    if (is_value(endian, "little")) return ByteOrder::little;
    throw Error(Code::corrupt,
                fmt::format("the endian of '{}' is {}, neither 'little' nor 'big'", what, quote(endian)));
  }

  void take_byte_order(const Extension& codec, const std::string& what) {
    const Json* endian = codec.configuration == nullptr ? nullptr : find_member(*codec.configuration, "endian");
    if (endian == nullptr || endian->is_null()) {
      if (meta_.dtype.is_number() && meta_.dtype.bytes > 1) {
        throw Error(Code::corrupt, fmt::format("'{}' (bytes) has no 'endian'", what));
      }
      return;
    }
    const bool big = parse_endian(*endian, what) == ByteOrder::big && meta_.dtype.bytes > 1;
    meta_.layout.byte_order = big ? ByteOrder::big : ByteOrder::little;
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

/// The transposition that makes `from` (an order of axes, or C order where empty) into `to`; empty if there is none to
/// make.
Shape transposition(const Shape& from, const Shape& to, int rank) {
  Shape order;
  bool identity = true;
  for (int i = 0; i < rank; ++i) {
    const Index axis = to.rank() == 0 ? i : to[i];
    const Index before = from.rank() == 0 ? axis : std::find(from.begin(), from.end(), axis) - from.begin();
    order.push_back(before);
    identity = identity && before == i;
  }
  return identity ? Shape() : order;
}

void print_transposition(const Shape& order, Json& codecs) {
  if (order.rank() == 0) return;
  codecs.push_back(named("transpose", Json{{"order", std::vector<Index>(order.begin(), order.end())}}));
}

Json print_codecs(const ArrayMeta& meta) {
  const int rank = meta.shape.rank();
  CHUNKWISE_CHECK(meta.shards.size() <= 1);
  const ShardLevel* shards = meta.shards.empty() ? nullptr : &meta.shards[0];
  Json codecs = Json::array();
  print_transposition(transposition(shards != nullptr ? shards->index_axes : Shape(), meta.layout.axes, rank), codecs);
  if (meta.dtype.element().word_bytes > 1) {
    codecs.push_back(named("bytes", Json{{"endian", meta.layout.byte_order == ByteOrder::little ? "little" : "big"}}));
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
  if (shards == nullptr) return codecs;
  const auto endian = [](ByteOrder order) { return order == ByteOrder::little ? "little" : "big"; };
  Json index_codecs = Json::array();
  index_codecs.push_back(named("bytes", Json{{"endian", endian(shards->index_order)}}));
  for (const CodecSpec& codec : shards->index_codecs) index_codecs.push_back(Json{{"name", codec.name}});
  Json configuration = Json::object();
  Json part = Json::array();
  for (int i = 0; i < rank; ++i)
    part.push_back(meta.chunk[shards->index_axes.rank() == 0 ? i : static_cast<int>(shards->index_axes[i])]);
  configuration["chunk_shape"] = std::move(part);
  configuration["codecs"] = std::move(codecs);
  configuration["index_codecs"] = std::move(index_codecs);
  configuration["index_location"] = shards->index_at_start ? "start" : "end";
  Json outer = Json::array();
  print_transposition(transposition(Shape(), shards->index_axes, rank), outer);
  outer.push_back(named(std::string(kShardCodec).c_str(), std::move(configuration)));
  return outer;
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
      named("regular", Json{{"chunk_shape", std::vector<Index>(meta.unit().begin(), meta.unit().end())}});
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
