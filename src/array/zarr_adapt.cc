#include "array/zarr_adapt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "array/json_attributes.h"
#include "array/json_fields.h"
#include "array/numpy_type.h"
#include "array/scalar.h"
#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "codec/foreign.h"
#include "codec/registry.h"

namespace chunkwise {
namespace {

constexpr std::size_t kMaxBloscBytes = 2147483631;  // 2^31 - 1, less the header

const char* link_words(LinkNode::Kind kind) {
  switch (kind) {
    case LinkNode::Kind::hard:
      return "a second name of";
    case LinkNode::Kind::soft:
      return "a soft link to";
    default:
      return "an external link to";
  }
}

void check_name(const std::string& path) {
  static constexpr std::array<std::string_view, 7> kReserved{".",       "..",         ".zarray",  ".zgroup",
                                                             ".zattrs", ".zmetadata", "zarr.json"};
  const std::string name = base_name(path);
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  const bool bad_byte = name.find('\\') != std::string::npos || name.find('\0') != std::string::npos;
  if (name.empty() || reserved || bad_byte || name.substr(0, 2) == "__") {
    throw Error(Code::unsupported, fmt::format("{} cannot be a name in a Zarr store", quote(Json(path))),
                "leave the object out with --exclude, or rename it in the source");
  }
}

void drop_foreign_attributes(const std::string& path, std::vector<Attribute>& attributes, AdaptReport& report) {
  const auto is_foreign = [&](const Attribute& attribute) {
    if (attribute.value.kind != AttributeValue::Kind::foreign) return false;
    report.losses.push_back(
        {fmt::format("{}@{}", path, attribute.name),
         fmt::format("attribute of type {} cannot be stored in Zarr", attribute.value.description)});
    return true;
  };
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), is_foreign), attributes.end());
}

// A netCDF variable may hold fewer records than its unlimited dimension; to netCDF it is as long and reads as fill
// there.
void extend_to_dimensions(const Hierarchy& tree, ArrayMeta& meta, AdaptReport& report) {
  const Shape stored = meta.shape;
  for (std::size_t axis = 0; axis < meta.dims.size(); ++axis) {
    const Dimension* dimension = find_dimension(tree, parent_path(meta.path), meta.dims[axis]);
    if (dimension == nullptr || !dimension->unlimited) continue;
    Index& length = meta.shape[static_cast<int>(axis)];
    length = std::max(length, dimension->length);
  }
  // netCDF reads its default value there; Zarr would read zeros.
  if (meta.shape != stored && meta.fill.empty())
    report.losses.push_back(
        {meta.path, "has no fill value, but fewer records than its dimension: what lies beyond cannot be stored"});
}

// HDF5's filters see the places of elements of any length. Here codecs see the elements themselves, as a stream of
// bytes.
void adapt_varying(ArrayNode& node, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  meta.dtype.refers = false;
  meta.dtype.bytes = kVaryingBytes;
  CodecSpecs codecs;
  for (const CodecSpec& codec : meta.codecs) {
    if (find_codec(codec.name) == nullptr) continue;
    const CodecRole role = role_of(codec);
    if (role == CodecRole::compressor || role == CodecRole::checksum) codecs.push_back(codec);
  }
  replace_codecs(node, std::move(codecs), "as it encodes the elements rather than their places in a file", report);
}

void adapt_array(ArrayNode& node, const std::string& source, std::string_view target, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  // Classic files know one byte order only; in Zarr it is that of the machines that read it.
  if (source == "nc3") set_byte_order(meta, ByteOrder::little);
  auto native = std::make_shared<ZarrArray>();
  if (const auto* before = dynamic_cast<const ZarrArray*>(node.native.get())) {
    *native = *before;
  } else if (const auto* origin = dynamic_cast<const ArrayOrigin*>(node.native.get())) {
    static_cast<ArrayOrigin&>(*native) = *origin;
  }
  native->has_absent_chunks = meta.n_stored_chunks < meta.grid().n_chunks();
  if (meta.storage != Storage::chunked) {
    native->storage = meta.storage == Storage::compact ? Storage::compact : Storage::contiguous;
    meta.storage = Storage::chunked;
    meta.chunk = default_object_chunk(meta.shape, meta.dtype.bytes);
    if (meta.grid().n_chunks() > 1) {
      report.notes.push_back(
          fmt::format("{}: has no chunks in the source, gets chunks of {}", meta.path, to_string(meta.chunk)));
    }
  }
  meta.pads_edges = true;
  meta.raw_edges = false;
  node.native = std::move(native);
  if (meta.dtype.is_varying() && meta.dtype.refers) adapt_varying(node, report);
  for (const CodecSpec& codec : meta.codecs) {
    // Codecs of the same format may be kept.
    if (find_codec(codec.name) == nullptr && !is_foreign_to(target, codec.name)) {
      throw Error(Code::unsupported, fmt::format("the {} cannot be decoded here", describe_unknown(codec)),
                  "leave the array out with --exclude")
          .in(meta.path);
    }
  }
}

}  // namespace

void adapt_to_zarr(Hierarchy& tree, std::string_view target, HasType has_type, AdaptReport& report) {
  const char* const format = target == "zarr2" ? "Zarr v2" : "Zarr v3";
  for (const LinkNode& link : tree.links) {
    report.losses.push_back({link.path, fmt::format("{} {}{}{} cannot be stored in Zarr", link_words(link.kind),
                                                    link.file, link.file.empty() ? "" : ":", link.target)});
  }
  tree.links.clear();
  lose_types(
      tree, "Zarr",
      [](const DType& dtype) {
        return !dtype.refers && !print_numpy_type(dtype, ByteOrder::little, TypeWords::hints).is_null();
      },
      report);

  const auto cannot_be_stored = [&](const ArrayNode& node) {
    const ArrayMeta& meta = node.meta;
    const bool refers = meta.dtype.refers && !meta.dtype.is_varying();
    if (meta.unsupported.empty() && !refers && meta.dtype.bytes > 0 && has_type(meta.dtype)) return false;
    const std::string why = meta.unsupported.empty() ? "data type " + meta.dtype.name() : meta.unsupported;
    report.losses.push_back({meta.path, fmt::format("{}: the array cannot be stored in {}", why, format)});
    return true;
  };
  tree.arrays.erase(std::remove_if(tree.arrays.begin(), tree.arrays.end(), cannot_be_stored), tree.arrays.end());

  for (GroupNode& group : tree.groups) {
    if (group.path != "/") check_name(group.path);
    drop_foreign_attributes(group.path, group.attributes, report);
  }
  for (ArrayNode& array : tree.arrays) {
    check_name(array.meta.path);
    if (!array.meta.dtype.names.empty() && tree.format.substr(0, 4) != "zarr")
      report.notes.push_back(fmt::format("{}: {} is stored as integers; only rechunk knows the names (in hints)",
                                         array.meta.path, array.meta.dtype.name()));
    drop_foreign_attributes(array.meta.path, array.attributes, report);
    extend_to_dimensions(tree, array.meta, report);
    adapt_array(array, tree.format, target, report);
  }
}

ZarrArray& zarr_native(ArrayNode& node) {
  // adapt_array made it for this node alone.
  auto* native = const_cast<ZarrArray*>(dynamic_cast<const ZarrArray*>(node.native.get()));
  CHUNKWISE_CHECK(native != nullptr);
  return *native;
}

ZarrArray zarr_native_or_default(const ArrayNode& node) {
  if (const auto* native = dynamic_cast<const ZarrArray*>(node.native.get())) return *native;
  ZarrArray native;
  native.has_absent_chunks = node.meta.n_stored_chunks < node.meta.grid().n_chunks();
  return native;
}

void replace_codecs(ArrayNode& node, CodecSpecs codecs, const std::string& why, AdaptReport& report) {
  if (codecs == node.meta.codecs) return;
  report.notes.push_back(
      fmt::format("{}: {} becomes {}, {}", node.meta.path, to_string(node.meta.codecs), to_string(codecs), why));
  ZarrArray& native = zarr_native(node);
  if (native.codecs.empty()) native.codecs = to_string(node.meta.codecs);
  node.meta.codecs = std::move(codecs);
}

std::string blosc_like(const CodecSpec& codec, std::size_t chunk_bytes) {
  const std::string inside = codec.text("cname", "");
  const bool encodes_nothing =
      codec.name == "bitgroom" || codec.name == "granular-bitround" || (codec.name == "bitshuffle" && inside == "none");
  if (encodes_nothing) return "none";
  if (chunk_bytes > kMaxBloscBytes) return "zstd:3";
  if (codec.name == "bitshuffle") return fmt::format("blosc:{}:{}:bitshuffle", inside, inside == "zstd" ? 3 : 5);
  return "blosc:zstd:3:shuffle";
}

namespace {

// A complex number is a pair of numbers among attributes.
bool is_pair(const AttributeValue& value) {
  return value.kind == AttributeValue::Kind::numbers && value.shape == Shape{2};
}

AttributeValue pair_in_type(const AttributeValue& value, const DType& part) {
  if (!is_pair(value) || value.dtype == part) return value;
  AttributeValue typed = value;
  typed.dtype = part;
  typed.data.resize(2 * part.bytes);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json number =
        element_to_json(value.dtype, ByteView(value.data).subspan(i * value.dtype.bytes, value.dtype.bytes));
    const MutableByteView out = MutableByteView(typed.data).subspan(i * part.bytes, part.bytes);
    if (!element_from_json(number, part, Rounding::nearest, out)) return value;
  }
  return typed;
}

}  // namespace

std::optional<std::vector<std::byte>> mask_value(const ArrayNode& node) {
  const Attribute* attribute = find_attribute(node.attributes, "_FillValue");
  if (attribute == nullptr) return std::nullopt;
  const AttributeValue& value = attribute->value;
  if (node.meta.dtype.kind == DType::Kind::text && value.kind == AttributeValue::Kind::text &&
      value.texts.size() == 1 && value.texts.front().size() == node.meta.dtype.bytes) {
    const ByteView text = as_bytes(value.texts.front());
    return std::vector<std::byte>(text.begin(), text.end());
  }
  if (node.meta.dtype.kind == DType::Kind::string && value.kind == AttributeValue::Kind::text &&
      value.texts.size() == 1 && is_utf8(value.texts.front()))
    return fill_of(ElementView(as_bytes(value.texts.front())));
  if (node.meta.dtype.kind == DType::Kind::complex_ && is_pair(value)) {
    const AttributeValue typed = in_array_type(value, node.meta.dtype);
    if (typed.data.size() == node.meta.dtype.bytes) return typed.data;
  }
  if (value.kind != AttributeValue::Kind::numbers || !node.meta.dtype.is_number()) return std::nullopt;
  if (value.data.size() != value.dtype.bytes) return std::nullopt;
  if (value.dtype == node.meta.dtype) return value.data;
  std::vector<std::byte> element(node.meta.dtype.bytes);
  const Json number = element_to_json(value.dtype, value.data);
  if (!element_from_json(number, node.meta.dtype, Rounding::exact, element)) return std::nullopt;
  return element;
}

AttributeValue in_array_type(const AttributeValue& value, const DType& dtype) {
  if (dtype.kind == DType::Kind::complex_) return pair_in_type(value, DType(DType::Kind::float_, dtype.bytes / 2));
  const bool is_one = value.kind == AttributeValue::Kind::numbers && value.data.size() == value.dtype.bytes;
  if (!is_one || !dtype.is_number() || value.dtype == dtype) {
    return value;
  }
  AttributeValue typed = value;
  typed.dtype = dtype;
  typed.data.resize(dtype.bytes);
  const Json number = element_to_json(value.dtype, value.data);
  return element_from_json(number, dtype, Rounding::nearest, typed.data) ? typed : value;
}

void check_zarr_array(const ArrayMeta& meta, const char* format, HasType has_type,
                      bool (*has_spelling)(const std::string& codec)) {
  const auto refuse = [&](const std::string& what, const std::string& hint = {}) {
    throw Error(Code::unsupported, what, hint).in(meta.path);
  };
  if (!meta.unsupported.empty()) refuse(meta.unsupported);
  if (!has_type(meta.dtype)) refuse(fmt::format("{} arrays of type {} cannot be written", format, meta.dtype.name()));
  if (meta.storage != Storage::chunked)
    refuse(fmt::format("{} arrays are always chunked", format), "give chunk lengths");
  for (const Index length : meta.chunk) {
    if (length < 1) refuse(fmt::format("a chunk length of {} is not possible", length));
  }
  const std::size_t chunk_bytes = meta.chunk_bytes();
  for (const CodecSpec& codec : meta.codecs) {
    if (!has_spelling(codec.name)) {
      refuse(fmt::format("{} has no codec {}", format, codec.name), "choose another one with --codec");
    }
    if (codec.name == "blosc" && chunk_bytes > kMaxBloscBytes) {
      refuse(fmt::format("a chunk of {} bytes is larger than blosc can take, {} bytes", chunk_bytes, kMaxBloscBytes),
             "use smaller chunks, or another codec");
    }
  }
}

bool is_single_array(const Hierarchy& tree) {
  return tree.nameless && tree.arrays.size() == 1 && tree.groups.size() == 1 && tree.groups[0].attributes.empty() &&
         parent_path(tree.arrays[0].meta.path) == "/";
}

std::string node_key(const Hierarchy& tree, const std::string& path) {
  return is_single_array(tree) ? std::string() : path.substr(1);
}

}  // namespace chunkwise
