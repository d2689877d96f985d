#include "format/zarr3/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "array/elements.h"
#include "array/json_fields.h"
#include "array/shard_index.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/foreign.h"
#include "codec/registry.h"
#include "format/zarr3/extension.h"
#include "format/zarr3/grid.h"
#include "format/zarr3/metadata_names.h"
#include "format/zarr3/types.h"

namespace chunkwise::zarr3 {
namespace {

/// Two are known to occur.
constexpr std::size_t kMostShardLevels = 8;

std::optional<DType::Kind> varying_kind(std::string_view codec) {
  for (const VaryingCodec& known : kVaryingCodecs)
    if (known.name == codec) return known.kind;
  return std::nullopt;
}

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
    parse_chain(need_member(document_, "codecs"), "codecs");
    if (!meta_.unsupported.empty()) return;
    try {
      CodecChain(meta_.codecs, meta_.dtype.codec_bytes());
    } catch (const Error& error) {
      // What cannot be decoded here is refused when it must be.
      if (error.code() != Code::unsupported) throw;
    }
    try {
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
      } else if (const auto kind = varying_kind(codec.name)) {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' is a second array-to-bytes codec", what));
        to_bytes_seen = true;
        if (!meta_.codecs.empty())
          refuse(fmt::format("codec {} before {}", quote_name(meta_.codecs[0].name), codec.name));
        if (meta_.unsupported.empty() && meta_.dtype.kind != *kind)
          throw Error(Code::corrupt, fmt::format("'{}' ({}) is no codec for elements of type {}", what, codec.name,
                                                 meta_.dtype.name()));
      } else if (codec.name == "bytes" || codec.name == "endian" || codec.name == kShardCodec) {
        if (to_bytes_seen) throw Error(Code::corrupt, fmt::format("'{}' is a second array-to-bytes codec", what));
        for (const CodecSpec& before : meta_.codecs) require_of_arrays(before, what);
        to_bytes_seen = true;
        holds_shards = codec.name == kShardCodec;
        holds_shards ? parse_shards(codec, what) : take_byte_order(codec, what);
      } else if (holds_shards) {
        refuse(fmt::format("codec {} around whole shards", quote_name(codec.name)));
      } else {
        add_codec(codec, list[i], what, to_bytes_seen);
      }
    }
    if (!to_bytes_seen) mark_without_bytes();
  }

  // Up to here meta_.chunk is the shard; it becomes what the shard holds.
  void parse_shards(const Extension& codec, const std::string& what) {
    if (!meta_.unsupported.empty()) return;
    if (!meta_.codecs.empty()) return refuse(fmt::format("codec {} before shards", quote_name(meta_.codecs[0].name)));
    if (meta_.shards.size() == kMostShardLevels) return refuse("shards inside shards, many times over");
    if (!meta_.pads_edges) return refuse("shards that are shorter at the end of an axis");
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

  static ByteOrder parse_endian(const Json& endian, const std::string& what) {
    if (is_value(endian, "big")) return ByteOrder::big;
    if (is_value(endian, "little")) return ByteOrder::little;
    throw Error(Code::corrupt,
                fmt::format("the endian of '{}' is {}, neither 'little' nor 'big'", what, quote(endian)));
  }

  void take_byte_order(const Extension& codec, const std::string& what) {
    if (meta_.dtype.is_varying())
      throw Error(Code::corrupt,
                  fmt::format("'{}' (bytes) is no codec for elements of type {}", what, meta_.dtype.name()));
    const Json* endian = codec.configuration == nullptr ? nullptr : find_member(*codec.configuration, "endian");
    if (endian == nullptr || endian->is_null()) {
      // Structured types are little-endian if nothing is said: so they were written at first.
      if (word_bytes(meta_.dtype) > 1) {
        throw Error(Code::corrupt, fmt::format("'{}' (bytes) has no 'endian'", what));
      }
      return;
    }
    const ByteOrder order = parse_endian(*endian, what);
    if (meta_.codecs.empty()) {
      if (word_bytes(meta_.dtype) > 1) meta_.layout.byte_order = order;
      member_order_ = order;
      return;
    }
    // Codecs before this one compute with numbers in the order of little-endian machines, and make others.
    Elements seen = codec_elements(meta_);
    for (const CodecSpec& before : meta_.codecs) seen = encoded_elements(before, seen);
    if (seen.bytes > 1 && seen.byte_order != order) {
      meta_.codecs.push_back(CodecSpec{"byteswap", {{"element_bytes", static_cast<std::int64_t>(seen.bytes)}}});
    }
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

}  // namespace chunkwise::zarr3
