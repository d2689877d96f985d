#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/elements.h"
#include "array/json_fields.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/foreign.h"
#include "codec/registry.h"
#include "format/zarr3/extension.h"
#include "format/zarr3/metadata.h"
#include "format/zarr3/metadata_names.h"
#include "format/zarr3/types.h"

namespace chunkwise::zarr3 {
namespace {

constexpr const char* kByteswap = "byteswap";

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
  return named(name, std::move(configuration));
}

// How an array that no codec has touched becomes bytes.
Json print_bytes(const ArrayMeta& meta) {
  for (const VaryingCodec& codec : kVaryingCodecs)
    if (codec.kind == meta.dtype.kind) return named(std::string(codec.name), Json::object());
  if (word_bytes(meta.dtype) <= 1 && !has_byte_order(meta.dtype)) return Json{{"name", "bytes"}};
  const ByteOrder order = common_byte_order(meta.dtype).value_or(meta.layout.byte_order);
  return named("bytes", Json{{"endian", order == ByteOrder::little ? "little" : "big"}});
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
  // Codecs of arrays, then how the array becomes bytes, then codecs of bytes.
  Elements seen = codec_elements(meta);
  auto at = meta.codecs.begin();
  bool makes_bytes = false;
  for (; at != meta.codecs.end() && !makes_bytes && place_of(*at) != Zarr3Place::bytes_to_bytes; ++at) {
    makes_bytes = place_of(*at) == Zarr3Place::array_to_bytes;
    if (at->name != kByteswap) codecs.push_back(print_codec(*at, seen.bytes));
    seen = encoded_elements(*at, seen);
  }
  if (!makes_bytes && at == meta.codecs.begin()) {
    codecs.push_back(print_bytes(meta));
  } else if (!makes_bytes) {
    // A codec of arrays may make bytes of numbers and numbers of bytes; zarr-python wants the order for either.
    const bool has_order = word_bytes(meta.dtype) > 1 || seen.bytes > 1;
    const ByteOrder order = seen.bytes > 1 ? seen.byte_order : meta.layout.byte_order;
    codecs.push_back(has_order ? named("bytes", Json{{"endian", order == ByteOrder::little ? "little" : "big"}})
                               : Json{{"name", "bytes"}});
  }
  for (; at != meta.codecs.end(); ++at) {
    codecs.push_back(print_codec(*at, seen.bytes));
    seen = encoded_elements(*at, seen);
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
  outer.push_back(named(kShardCodec, std::move(configuration)));
  return outer;
}

// As it was spelled, if it is still the same.
Json spell_type(const ArrayMeta& meta, const ZarrArray::Spelling& spelling) {
  if (!spelling.type_json.empty() && meta.dtype == spelling.dtype) return parse_json(spelling.type_json);
  return print_type(meta.dtype);
}

Json spell_fill(const ArrayMeta& meta, const ZarrArray::Spelling& spelling) {
  std::vector<std::byte> fill = meta.fill;
  if (!meta.dtype.is_varying()) fill.resize(meta.dtype.bytes);
  if (fill.empty()) fill = fill_of(ElementView(ByteView()));
  const bool is_kept = !spelling.type_json.empty() && meta.dtype == spelling.dtype && fill == spelling.fill;
  if (is_kept) return parse_json(spelling.fill_json);
  if (meta.layout.byte_order != kNativeOrder) swap_words(word_bytes(meta.dtype), fill);
  return print_fill(meta.dtype, fill);
}

}  // namespace

Json print_array(const ArrayMeta& meta, const ZarrArray& native, Json attributes) {
  Json document = Json::object();
  document["shape"] = std::vector<Index>(meta.shape.begin(), meta.shape.end());
  document["data_type"] = spell_type(meta, native.spelling);
  document["chunk_grid"] =
      named("regular", Json{{"chunk_shape", std::vector<Index>(meta.unit().begin(), meta.unit().end())}});
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
