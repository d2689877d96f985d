#include "rechunk/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "codec/registry.h"
#include "rechunk/plan.h"
#include "rechunk/select.h"
#include "rechunk/shard_layout.h"
#include "rechunk/tiling.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kDefaultChunkBytes = 4u << 20;  // netCDF-C's own default

/// The chunk an array has now, or all of it where it is contiguous.
Shape present_chunk(const ArrayMeta& meta) {
  if (meta.storage == Storage::chunked) return meta.chunk;
  Shape chunk = meta.shape;
  for (Index& length : chunk) length = std::max<Index>(length, 1);
  return chunk;
}

void make_chunked(ArrayMeta& meta, const Shape& chunk) {
  meta.storage = Storage::chunked;
  meta.chunk = chunk;
  meta.pads_edges = true;
}

/// Shortens lengths that pass a fixed axis; HDF5 would refuse them.
Shape clipped(const ArrayMeta& meta, const Shape& chunk, std::vector<std::string>& notes) {
  Shape result = chunk;
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    const bool may_grow = axis < meta.max_shape.rank() && meta.max_shape[axis] != meta.shape[axis];
    const Index longest = std::max<Index>(meta.shape[axis], 1);
    if (may_grow || chunk[axis] <= longest) continue;
    result[axis] = longest;
    notes.push_back(fmt::format("{}: {} has {} elements, so its chunks have {}, not {}", meta.path,
                                axis_name(meta, axis), meta.shape[axis], longest, chunk[axis]));
  }
  return result;
}

void apply_chunks(const ChunkSpec& spec, const LayoutRequest& request, ArrayMeta& meta,
                  std::vector<std::string>& notes) {
  const int rank = meta.shape.rank();
  if (rank == 0) return;
  switch (spec.kind) {
    case ChunkSpec::Kind::keep:
    case ChunkSpec::Kind::none:
      return;
    case ChunkSpec::Kind::contiguous:
      if (meta.storage == Storage::contiguous || meta.storage == Storage::compact) return;
      meta.storage = Storage::contiguous;
      meta.pads_edges = false;
      meta.raw_edges = false;
      meta.layout.axes = {};
      meta.chunk = linear_cut(meta, meta.shape);
      return;
    case ChunkSpec::Kind::automatic:
      CHUNKWISE_CHECK(request.advise != nullptr);
      if (rank > 1) make_chunked(meta, clipped(meta, request.advise(meta), notes));
      return;
    case ChunkSpec::Kind::bytes:
      make_chunked(meta, clipped(meta, proportional_lengths(meta.shape, meta.dtype.bytes, spec.bytes), notes));
      return;
    case ChunkSpec::Kind::list: {
      if (static_cast<int>(spec.lengths.size()) != rank) {
        notes.push_back(
            fmt::format("{}: has {} axes, so -c {} does not apply; chunks kept", meta.path, rank, spec.text));
        return;
      }
      break;
    }
    case ChunkSpec::Kind::lengths:
      break;
  }
  Shape chunk = present_chunk(meta);
  bool touched = false;
  for (std::size_t i = 0; i < spec.lengths.size(); ++i) {
    const auto& [dim, length] = spec.lengths[i];
    const int axis = spec.kind == ChunkSpec::Kind::list ? static_cast<int>(i) : axis_of(meta, dim);
    if (axis < 0) continue;
    chunk[axis] = length == 0 ? std::max<Index>(meta.shape[axis], 1) : length;
    touched = true;
  }
  if (!touched) return;
  // A request for all variables must not cut a coordinate into single elements: nobody wants that, everybody gets it.
  if (rank == 1 && spec.variable.empty() && chunk[0] == 1 && meta.shape[0] > 1) {
    notes.push_back(fmt::format("{}: one dimension, so -c {} does not apply; ask {}:{}/1 to force it", meta.path,
                                spec.text, base_name(meta.path), meta.dims.empty() ? "0" : meta.dims[0]));
    return;
  }
  make_chunked(meta, clipped(meta, chunk, notes));
}

void apply_codecs(const CodecRequest& request, ArrayMeta& meta, std::vector<std::string>& notes) {
  if (!request.codecs) return;
  if (request.codecs->empty()) {
    meta.codecs.clear();
    meta.raw_edges = false;
    return;
  }
  // A scalar or an empty fixed array has no chunks to encode.
  if (meta.shape.rank() == 0 || (meta.storage != Storage::chunked && product(meta.shape) == 0)) return;
  if (meta.storage != Storage::chunked) {
    const Shape chunk = proportional_lengths(meta.shape, meta.dtype.bytes, kDefaultChunkBytes);
    make_chunked(meta, chunk);
    notes.push_back(
        fmt::format("{}: contiguous, needs chunks to be encoded; they are {}", meta.path, to_string(chunk)));
  }
  meta.codecs = *request.codecs;
}

/// Parameters that follow the chunk. Codecs that stay on chunks that stay keep theirs, whatever they are: stored chunks
/// may move as they are.
void fit_codecs(const ArrayMeta& before, bool asked, ArrayMeta& meta) {
  if (meta.storage != Storage::chunked) return;
  if (!asked && before.storage == Storage::chunked && before.chunk == meta.chunk) return;
  try {
    meta.codecs = for_chunk(meta.codecs, {meta.chunk, codec_elements(meta)});
  } catch (Error& error) {
    throw error.in(meta.path);
  }
}

}  // namespace

CodecRequest parse_codec_request(const std::string& text) {
  CodecRequest request;
  std::string rest = text;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) {
    const std::string first = text.substr(0, colon);
    const std::size_t comma = first.find(',');
    const std::string head = first.substr(0, comma);
    const std::string tail = text.substr(colon + 1);
    // A first part that is no codec names a variable, provided what follows starts like a codec list.
    const std::string next = tail.substr(0, tail.find_first_of(":,"));
    if (comma == std::string::npos && find_codec_by_request(head) == nullptr &&
        (next == "keep" || next == "none" || find_codec_by_request(next) != nullptr)) {
      request.variable = first;
      rest = tail;
    }
  }
  if (rest != "keep") request.codecs = parse_codecs(rest);
  return request;
}

void apply_layout(const LayoutRequest& request, Hierarchy& tree, std::vector<std::string>& notes) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < tree.arrays.size(); ++i) all.push_back(i);
  std::vector<std::vector<const ChunkSpec*>> chunks(tree.arrays.size());
  std::vector<std::vector<const ChunkSpec*>> shards(tree.arrays.size());
  std::vector<const CodecRequest*> codecs(tree.arrays.size(), nullptr);
  for (const bool named : {false, true}) {
    const auto assign = [&](const std::vector<ChunkSpec>& specs, std::vector<std::vector<const ChunkSpec*>>& of) {
      for (const ChunkSpec& spec : specs) {
        if (spec.variable.empty() == named) continue;
        const std::vector<std::size_t> targets = named ? find_variables(tree, spec.variable) : all;
        if (!spec.lengths.empty()) check_dims_exist(spec, tree, targets);
        for (std::size_t i : targets) of[i].push_back(&spec);
      }
    };
    assign(request.chunks, chunks);
    assign(request.shards, shards);
    for (const CodecRequest& codec : request.codecs) {
      if (codec.variable.empty() == named) continue;
      for (std::size_t i : named ? find_variables(tree, codec.variable) : all) codecs[i] = &codec;
    }
  }
  for (std::size_t i = 0; i < tree.arrays.size(); ++i) {
    ArrayMeta& meta = tree.arrays[i].meta;
    const ArrayMeta before = meta;
    // A map of other arrays becomes an array of its own only if it is asked for by its name.
    if (meta.storage == Storage::virtual_) {
      const auto is_general = [](const ChunkSpec* spec) { return spec->variable.empty(); };
      const bool had_general = std::erase_if(chunks[i], is_general) > 0;
      const bool general_codec = codecs[i] != nullptr && codecs[i]->variable.empty();
      if (general_codec) codecs[i] = nullptr;
      if ((had_general || general_codec) && chunks[i].empty() && codecs[i] == nullptr)
        notes.push_back(fmt::format("{}: stays virtual; -c {}:LENGTHS stores its elements", meta.path, meta.path));
    }
    for (const ChunkSpec* spec : chunks[i]) {
      if (spec->kind == ChunkSpec::Kind::keep)
        meta = before;
      else
        apply_chunks(*spec, request, meta, notes);
    }
    if (codecs[i] != nullptr) apply_codecs(*codecs[i], meta, notes);
    fit_codecs(before, codecs[i] != nullptr && codecs[i]->codecs, meta);
    const bool has_lengths =
        std::any_of(chunks[i].begin(), chunks[i].end(), [](const ChunkSpec* spec) { return !spec->lengths.empty(); });
    set_shards(shards[i], has_lengths, before, meta, notes);
  }
}

}  // namespace chunkwise
