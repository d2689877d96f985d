#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "array/object_chunks.h"
#include "array/zarr_tree.h"
#include "base/error.h"
#include "codec/registry.h"
#include "format/hdf5/adapt_parts.h"
#include "format/hdf5/pipeline.h"
#include "format/hdf5/source.h"

namespace chunkwise::hdf5 {
namespace {

bool may_grow(const ArrayMeta& meta, int axis) {
  return meta.max_shape[axis] != meta.shape[axis];
}

bool has_codec(const CodecSpecs& specs, std::string_view name) {
  return std::any_of(specs.begin(), specs.end(), [&](const CodecSpec& spec) { return spec.name == name; });
}

void add_once(CodecSpecs& specs, const std::string& text) {
  for (CodecSpec& spec : parse_codecs(text))
    if (!has_codec(specs, spec.name)) specs.push_back(std::move(spec));
}

/// The deflate level that aims at about the same: fast codecs become the fastest level.
std::int64_t deflate_level(const CodecSpec& spec) {
  const bool is_fast = spec.name != "gzip" && spec.name != "zstd" && spec.name != "bz2" && spec.name != "lzma" &&
                       (spec.name != "blosc" || spec.text("cname", "").starts_with("lz4") ||
                        spec.text("cname", "") == "blosclz" || spec.text("cname", "") == "snappy");
  return is_fast ? 1 : std::clamp<std::int64_t>(spec.integer(spec.name == "lzma" ? "preset" : "level", 1), 1, 9);
}

/// The nearest chain of shuffle, deflate and fletcher32, the filters of every HDF5 library. Filters that came from an
/// HDF5 file and that we cannot decode stay.
CodecSpecs ordinary_codecs(const ArrayMeta& meta) {
  CodecSpecs specs;
  bool packed = false;
  for (const CodecSpec& spec : meta.codecs) {
    const CodecRole role = role_of(spec);
    if (foreign_filter_id(spec.name) != 0 || spec.name == "deflate" || spec.name == "fletcher32") {
      specs.push_back(spec);
    } else if (role == CodecRole::arranges || role == CodecRole::packs) {
      // HDF5 always shuffles whole elements.
      if (meta.dtype.bytes > 1 || !spec.params.empty()) add_once(specs, "shuffle");
      packed = packed || role == CodecRole::packs;
    } else if (role == CodecRole::checksum) {
      add_once(specs, "fletcher32");
    } else if (role == CodecRole::rounds || spec.name == "base64") {
      // Nothing is encoded.
    } else {
      if (meta.dtype.bytes > 1 && !has_codec(specs, "deflate")) add_once(specs, "shuffle");
      add_once(specs, fmt::format("deflate:{}", deflate_level(spec)));
    }
  }
  // What is not packed any more wants a compressor that does as much.
  if (packed) add_once(specs, "deflate:1");
  return specs;
}

bool same_shuffle(const CodecSpec& spec, const ArrayMeta& meta) {
  const auto whole = static_cast<std::int64_t>(meta.dtype.bytes);
  return spec.name == "shuffle" && spec.integer("element_bytes", whole) == whole;
}

bool is_ordinary(const CodecSpec& spec) {
  return spec.name == "shuffle" || spec.name == "deflate" || spec.name == "fletcher32";
}

/// What the array had before it came to a format that could not keep it; nothing if that is not known, or not ordinary.
std::optional<CodecSpecs> original_codecs(const ArrayNode& node) {
  const auto* origin = dynamic_cast<const ArrayOrigin*>(node.native.get());
  if (origin == nullptr || origin->codecs.empty()) return std::nullopt;
  // Of elements of any length the library leaves the shuffle without parameters, so that it is known by its number.
  std::string codecs = origin->codecs;
  constexpr std::string_view kBareShuffle = "hdf5-2,";
  if (node.meta.dtype.is_varying() && codecs.starts_with(kBareShuffle))
    codecs.replace(0, kBareShuffle.size(), "shuffle,");
  try {
    CodecSpecs specs = parse_codecs(codecs);
    if (std::all_of(specs.begin(), specs.end(), is_ordinary)) return specs;
  } catch (const Error& error) {
    if (error.code() != Code::usage) throw;  // a filter of a file, not of ours
  }
  return std::nullopt;
}

void adapt_codecs(ArrayNode& node, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  if (meta.storage != Storage::chunked) return;
  // HDF5 filters see the places of such elements, not what they hold.
  const bool leaves_out = meta.dtype.is_varying() && !meta.dtype.refers;
  CodecSpecs specs = leaves_out ? CodecSpecs() : ordinary_codecs(meta);
  if (!std::all_of(meta.codecs.begin(), meta.codecs.end(), is_ordinary))
    if (auto original = original_codecs(node)) specs = std::move(*original);
  const bool changed = !std::equal(
      specs.begin(), specs.end(), meta.codecs.begin(), meta.codecs.end(),
      [&](const CodecSpec& a, const CodecSpec& b) { return a == b || (a.name == b.name && same_shuffle(b, meta)); });
  if (!changed) return;
  report.notes.push_back(fmt::format("{}: {} becomes {}{}", meta.path, to_string(meta.codecs), to_string(specs),
                                     leaves_out ? ", as HDF5 does not encode what elements of any length hold" : ""));
  meta.codecs = std::move(specs);
}

void adapt_axes(ArrayMeta& meta, AdaptReport& report) {
  bool is_c_order = true;
  for (int i = 0; i < meta.layout.axes.rank(); ++i) is_c_order &= meta.layout.axes[i] == i;
  if (!is_c_order) report.notes.push_back(fmt::format("{}: elements are put in C order", meta.path));
  meta.layout.axes = Shape{};
}

void make_linear(ArrayMeta& meta, Storage storage) {
  meta.storage = storage;
  meta.codecs.clear();
  meta.pads_edges = false;
  meta.raw_edges = false;
  meta.chunk = linear_chunk(meta.shape, meta.dtype.bytes);
}

/// Contiguous or compact if the array was that and got its chunks only because a format has nothing else.
Storage original_storage(const ArrayNode& node) {
  const auto* origin = dynamic_cast<const ArrayOrigin*>(node.native.get());
  const bool has_default_chunks =
      node.meta.codecs.empty() && node.meta.chunk == default_object_chunk(node.meta.shape, node.meta.dtype.bytes);
  return has_default_chunks && origin != nullptr ? origin->storage.value_or(Storage::chunked) : Storage::chunked;
}

void adapt_storage(ArrayNode& node, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  bool grows = false;
  for (int axis = 0; axis < meta.shape.rank(); ++axis) grows |= may_grow(meta, axis);
  if (meta.storage == Storage::virtual_) meta.storage = Storage::contiguous;
  if (meta.storage != Storage::chunked) {
    if (!grows) return;
    // The runs the source is cut into are boxes, so chunks.
    meta.storage = Storage::chunked;
    meta.pads_edges = true;
    report.notes.push_back(fmt::format("{}: chunked {}, as an axis may grow", meta.path, to_string(meta.chunk)));
    return;
  }
  if (!grows) {
    const bool is_trivial = product(meta.shape) == (meta.shape.rank() == 0 ? 1 : 0);
    const Storage original = original_storage(node);
    if (original != Storage::chunked) return make_linear(meta, original);
    if (is_trivial) return make_linear(meta, Storage::contiguous);
  }
  meta.pads_edges = true;
  const Shape asked = meta.chunk;
  for (int axis = 0; axis < meta.shape.rank(); ++axis)
    if (meta.max_shape[axis] != kUnlimited)
      meta.chunk[axis] = std::min(meta.chunk[axis], std::max<Index>(meta.max_shape[axis], 1));
  if (!(asked == meta.chunk))
    report.notes.push_back(fmt::format("{}: chunks {} are cut to {}, the length of the dimensions", meta.path,
                                       to_string(asked), to_string(meta.chunk)));
}

}  // namespace

void adapt_layouts(Hierarchy& tree, AdaptReport& report) {
  for (ArrayNode& node : tree.arrays) {
    adapt_axes(node.meta, report);
    adapt_storage(node, report);
    adapt_codecs(node, report);
    if (node.meta.dtype.is_varying()) {
      node.meta.dtype.refers = true;
      node.meta.dtype.bytes = kVaryingBytes;
    }
  }
}

}  // namespace chunkwise::hdf5
