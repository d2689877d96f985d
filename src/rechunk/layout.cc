#include "rechunk/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"
#include "codec/registry.h"
#include "rechunk/plan.h"
#include "rechunk/select.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kDefaultChunkBytes = 4u << 20;  // netCDF-C's own default

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::optional<Index> parse_index(const std::string& text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

[[noreturn]] void bad_chunks(const std::string& text, const std::string& why) {
  throw Error(Code::usage, fmt::format("cannot read chunks '{}': {}", text, why),
              "write -c time/92,y/9,x/11 or -c VAR:time/92 or -c 4MiB, auto, keep, contiguous");
}

Index parse_length(const std::string& spec, const std::string& text) {
  if (text == "all") return 0;
  const auto value = parse_index(text);
  if (!value || *value < 1) bad_chunks(spec, fmt::format("'{}' is not a length of at least 1", text));
  return *value;
}

/// Axis of `meta` that a dim name or number means; -1 if it has none.
int axis_of(const ArrayMeta& meta, const std::string& dim) {
  for (std::size_t axis = 0; axis < meta.dims.size(); ++axis)
    if (meta.dims[axis] == dim) return static_cast<int>(axis);
  const auto number = parse_index(dim);
  if (number && *number >= 0 && *number < meta.shape.rank()) return static_cast<int>(*number);
  return -1;
}

/// The chunk an array has now, or all of it where it is contiguous.
Shape present_chunk(const ArrayMeta& meta) {
  if (meta.storage == Storage::chunked) return meta.chunk;
  Shape chunk = meta.shape;
  for (Index& length : chunk) length = std::max<Index>(length, 1);
  return chunk;
}

/// About `bytes` in the proportions of the array: the same fraction of every axis.
Shape proportional_chunk(const ArrayMeta& meta, std::uint64_t bytes) {
  const int rank = meta.shape.rank();
  Shape chunk = Shape::filled(rank, 1);
  const double wanted = static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(meta.dtype.bytes, 1));
  // Axes shorter than 1/fraction stay at 1, so the others get their share: repeat with those left.
  std::vector<int> open;
  for (int axis = 0; axis < rank; ++axis) open.push_back(axis);
  for (;;) {
    double volume = 1;
    for (int axis : open) volume *= static_cast<double>(std::max<Index>(meta.shape[axis], 1));
    const double fraction =
        open.empty() ? 1 : std::min(1.0, std::pow(wanted / volume, 1.0 / static_cast<double>(open.size())));
    const auto too_short = std::partition(
        open.begin(), open.end(), [&](int axis) { return static_cast<double>(meta.shape[axis]) * fraction >= 1; });
    const bool settled = too_short == open.end();
    open.erase(too_short, open.end());
    if (!settled) continue;
    for (int axis : open)
      chunk[axis] = std::max<Index>(1, static_cast<Index>(static_cast<double>(meta.shape[axis]) * fraction));
    return chunk;
  }
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
    const std::string name = meta.dims.empty() || meta.dims[static_cast<std::size_t>(axis)].empty()
                                 ? fmt::format("axis {}", axis)
                                 : meta.dims[static_cast<std::size_t>(axis)];
    notes.push_back(fmt::format("{}: {} has {} elements, so its chunks have {}, not {}", meta.path, name,
                                meta.shape[axis], longest, chunk[axis]));
  }
  return result;
}

void apply_chunks(const ChunkSpec& spec, const LayoutRequest& request, ArrayMeta& meta,
                  std::vector<std::string>& notes) {
  const int rank = meta.shape.rank();
  if (rank == 0) return;
  switch (spec.kind) {
    case ChunkSpec::Kind::keep:
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
      make_chunked(meta, clipped(meta, proportional_chunk(meta, spec.bytes), notes));
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
    const Shape chunk = proportional_chunk(meta, kDefaultChunkBytes);
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

void check_dims_exist(const ChunkSpec& spec, const Hierarchy& tree, const std::vector<std::size_t>& targets) {
  if (spec.kind == ChunkSpec::Kind::list) {
    for (std::size_t i : targets)
      if (tree.arrays[i].meta.shape.rank() == static_cast<int>(spec.lengths.size())) return;
    throw Error(Code::usage,
                fmt::format("-c {} names {} axes, but no variable has that many", spec.text, spec.lengths.size()));
  }
  std::set<std::string> known;
  for (std::size_t i : targets)
    for (const std::string& dim : tree.arrays[i].meta.dims)
      if (!dim.empty()) known.insert(dim);
  for (const ChunkSpec::Length& asked : spec.lengths) {
    const std::string& dim = asked.dim;
    const bool found = std::any_of(targets.begin(), targets.end(),
                                   [&](std::size_t i) { return axis_of(tree.arrays[i].meta, dim) >= 0; });
    // A dimension nothing uses is still a real name: asking for it is harmless.
    const bool defined = std::any_of(tree.groups.begin(), tree.groups.end(), [&](const GroupNode& group) {
      return std::any_of(group.dimensions.begin(), group.dimensions.end(),
                         [&](const Dimension& d) { return d.name == dim; });
    });
    if (!found && !defined)
      throw Error(Code::usage, fmt::format("no dimension '{}' in -c {}", dim, spec.text),
                  suggest(dim, {known.begin(), known.end()}));
  }
}

}  // namespace

ChunkSpec parse_chunk_spec(const std::string& text) {
  ChunkSpec spec;
  spec.text = text;
  std::string rest = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    spec.variable = text.substr(0, colon);
    rest = text.substr(colon + 1);
    if (spec.variable.empty()) bad_chunks(text, "nothing stands before ':'");
  }
  if (rest.empty()) bad_chunks(text, "it is empty");
  if (rest == "keep" || rest == "contiguous" || rest == "auto") {
    spec.kind = rest == "keep" ? ChunkSpec::Kind::keep
                               : (rest == "auto" ? ChunkSpec::Kind::automatic : ChunkSpec::Kind::contiguous);
    return spec;
  }
  const bool named = rest.find('/') != std::string::npos;
  if (!named && !parse_index(rest) && rest.find(',') == std::string::npos) {
    if (std::isdigit(static_cast<unsigned char>(rest[0])) == 0)
      bad_chunks(text, fmt::format("'{}' is neither a size nor a dimension with a length", rest));
    spec.kind = ChunkSpec::Kind::bytes;
    spec.bytes = parse_bytes(rest);
    if (spec.bytes == 0) bad_chunks(text, "a chunk has at least one byte");
    return spec;
  }
  spec.kind = named ? ChunkSpec::Kind::lengths : ChunkSpec::Kind::list;
  for (const std::string& part : split(rest, ',')) {
    if (!named) {
      spec.lengths.push_back({"", parse_length(text, part)});
      continue;
    }
    const std::size_t slash = part.rfind('/');
    if (slash == std::string::npos || slash == 0)
      bad_chunks(text, fmt::format("'{}' is not a dimension with a length", part));
    const std::string dim = part.substr(0, slash);
    for (const ChunkSpec::Length& other : spec.lengths)
      if (other.dim == dim) bad_chunks(text, fmt::format("'{}' has two lengths", dim));
    spec.lengths.push_back({dim, parse_length(text, part.substr(slash + 1))});
  }
  return spec;
}

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
  std::vector<const CodecRequest*> codecs(tree.arrays.size(), nullptr);
  for (const bool named : {false, true}) {
    for (const ChunkSpec& spec : request.chunks) {
      if (spec.variable.empty() == named) continue;
      const std::vector<std::size_t> targets = named ? find_variables(tree, spec.variable) : all;
      if (!spec.lengths.empty()) check_dims_exist(spec, tree, targets);
      for (std::size_t i : targets) chunks[i].push_back(&spec);
    }
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
  }
}

}  // namespace chunkwise
