#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "array/fill_json.h"
#include "array/numpy_type.h"
#include "array/scalar.h"
#include "array/zarr_adapt.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/foreign.h"
#include "codec/registry.h"
#include "format/zarr2/format.h"
#include "format/zarr2/metadata.h"
#include "format/zarr2/object_codec.h"

namespace chunkwise::zarr2 {
namespace {

bool has_spelling(const std::string& codec) {
  if (is_foreign_to("zarr2", codec)) return true;
  const CodecRow* row = find_codec(codec);
  return row != nullptr && row->to_zarr2 != nullptr && !row->zarr2_id.empty();
}

bool has_type(const DType& dtype) {
  return has_object_codec(dtype) || !print_numpy_type(dtype, ByteOrder::little).is_null();
}

// C or F order, or nothing else: 0 for C, 1 for F, -1 for another one.
int axes_order(const ArrayMeta& meta) {
  const int rank = meta.shape.rank();
  bool c = true;
  bool f = true;
  for (int axis = 0; axis < meta.layout.axes.rank(); ++axis) {
    c = c && meta.layout.axes[axis] == axis;
    f = f && meta.layout.axes[axis] == rank - 1 - axis;
  }
  return c ? 0 : f ? 1 : -1;
}

void adapt_layout(ArrayMeta& meta, AdaptReport& report) {
  const int order = axes_order(meta);
  if (order == 1) return;
  if (order < 0) {
    report.notes.push_back(
        fmt::format("{}: its elements are stored in C order, as Zarr v2 knows no other transposition", meta.path));
  }
  meta.layout.axes = Shape();
}

void adapt_codecs(ArrayNode& node, AdaptReport& report) {
  CodecSpecs codecs;
  for (const CodecSpec& codec : node.meta.codecs) {
    if (has_spelling(codec.name)) {
      codecs.push_back(codec);
    } else if (codec.name == "hdf5-lz4" || codec.name == "lzf") {
      codecs.push_back(CodecSpec{"lz4", {}});
    } else if (codec.name == "zarr3-packbits") {
      if (node.meta.dtype.kind == DType::Kind::boolean) codecs.push_back(CodecSpec{"packbits", {}});
    } else if (codec.name == "byteswap") {
      // Zarr v2 has no such thing, and needs none.
    } else {
      for (CodecSpec& near : parse_codecs(blosc_like(codec, node.meta.chunk_bytes())))
        codecs.push_back(std::move(near));
    }
  }
  replace_codecs(node, std::move(codecs), "as Zarr v2 spells it", report);
}

// Without a fill_value missing chunks read as zeros, so chunks of another fill must not be missing.
void leave_fill_untold(ArrayMeta& meta, ZarrArray& native) {
  if (meta.fill.empty()) return;
  native.untold_fill = meta.fill;
  // Readers do not agree on what missing texts are then.
  const bool is_zero = std::all_of(meta.fill.begin(), meta.fill.end(), [](std::byte b) { return b == std::byte{0}; });
  if (!is_zero || meta.dtype.is_varying()) meta.fill.clear();
}

// A hint says that it does not mean that (docs/zarr-hints.md).
void note_false_mask(const ArrayNode& node, const Json& fill, AdaptReport& report) {
  const bool is_mask = find_attribute(node.attributes, "_FillValue") != nullptr;
  if (is_mask || node.meta.dims.empty() || !node.meta.dtype.is_number()) return;
  report.notes.push_back(fmt::format("{}: missing chunks read as {}, which xarray takes for missing values in Zarr v2",
                                     node.meta.path, dump_json(fill)));
}

void adapt_fill(ArrayNode& node, const std::string& source, AdaptReport& report) {
  ArrayMeta& meta = node.meta;
  ZarrArray& native = zarr_native(node);
  if (source == "zarr2" && !native.fill_json.empty()) {
    if (meta.dtype.kind == DType::Kind::other) return;  // whose bits nobody reads
    if (meta.dtype.kind == DType::Kind::object) return;
    // As it was, but in plain spelling; a 0 where texts are due has none.
    if (parse_json(native.fill_json).is_null()) return leave_fill_untold(meta, native);
    const auto told = fill_from_json(parse_json(native.fill_json), meta.dtype);
    if (!meta.dtype.is_varying()) native.fill_json = dump_json(fill_to_json(meta.dtype, told, FillStyle::zarr2));
    if (native.has_absent_chunks || !native.untold_fill) meta.fill = in_order(told, meta.dtype, meta.layout.byte_order);
    return;
  }
  const Json fill = choose_fill(node, native);
  native.fill_json = dump_json(fill);
  native.untold_fill.reset();
  if (fill.is_null()) return leave_fill_untold(meta, native);
  note_false_mask(node, fill, report);
  const auto told = in_order(fill_from_json(fill, meta.dtype), meta.dtype, meta.layout.byte_order);
  // Missing chunks read as what is told, so where that is another value they must be written.
  if (told != meta.fill && !native.has_absent_chunks) native.untold_fill = meta.fill;
  meta.fill = told;
}

}  // namespace

void adapt(Hierarchy& tree, AdaptReport& report) {
  adapt_to_zarr(tree, "zarr2", has_type, report);
  for (ArrayNode& node : tree.arrays) {
    ZarrArray& native = zarr_native(node);
    if (tree.format != "zarr2") {
      native.separator = 0;
      native.has_dimension_list = node.meta.shape.rank() == 0;  // which xarray wants to see, even of no names
    } else if (native.separator_found) {
      report.notes.push_back(fmt::format(
          "{}: its chunk keys are nested although the metadata does not say so; the target's does", node.meta.path));
    }
    adapt_layout(node.meta, report);
    adapt_codecs(node, report);
    if (tree.format == "zarr3" && node.meta.dtype.kind == DType::Kind::list)
      native.object_codec = R"({"id":"vlen-bytes"})";
    adapt_fill(node, tree.format, report);
    if (find_attribute(node.attributes, kDimensionsAttribute) != nullptr && !node.meta.dims.empty()) {
      report.losses.push_back({fmt::format("{}@{}", node.meta.path, kDimensionsAttribute),
                               "the name is used in Zarr v2 for the names of dimensions"});
      node.attributes.erase(std::remove_if(node.attributes.begin(), node.attributes.end(),
                                           [](const Attribute& a) { return a.name == kDimensionsAttribute; }),
                            node.attributes.end());
    }
  }
}

void check(const Hierarchy& tree) {
  for (const ArrayNode& node : tree.arrays) {
    check_zarr_array(node.meta, "Zarr v2", has_type, has_spelling);
    if (axes_order(node.meta) < 0) {
      throw Error(Code::unsupported, "Zarr v2 stores elements in C or F order only").in(node.meta.path);
    }
  }
}

}  // namespace chunkwise::zarr2
