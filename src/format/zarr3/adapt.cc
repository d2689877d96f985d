#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "array/json_attributes.h"
#include "array/shard_index.h"
#include "array/zarr_adapt.h"
#include "base/error.h"
#include "codec/registry.h"
#include "format/zarr3/format.h"
#include "format/zarr3/metadata.h"

namespace chunkwise::zarr3 {
namespace {

constexpr std::size_t kMaxBloscBytes = std::size_t{1} << 31;

bool has_spelling(const std::string& codec) {
  const CodecRow* row = find_codec(codec);
  return row != nullptr && row->to_zarr3 != nullptr && !row->zarr3_name.empty();
}

// Codecs of the core specification and its registered extensions that every reader has: gzip, zstd, blosc, crc32c.
// Shuffling exists only inside blosc there.
CodecSpecs to_core(const CodecSpecs& codecs, std::size_t chunk_bytes) {
  const bool fits_blosc = chunk_bytes < kMaxBloscBytes;
  bool shuffled = false;
  std::string text;
  CodecSpecs core;
  const auto add = [&](const std::string& spelled) { core.push_back(parse_codecs(spelled).front()); };
  for (const CodecSpec& codec : codecs) {
    const bool in_blosc = shuffled && fits_blosc;
    if (codec.name == "shuffle") {
      shuffled = true;
    } else if (codec.name == "deflate" || codec.name == "gzip") {
      const auto level = codec.integer("level", 1);
      // zstd inside blosc reaches the ratio of deflate at about half its level.
      in_blosc ? add(fmt::format("blosc:zstd:{}:shuffle", std::clamp<std::int64_t>((level + 1) / 2, 1, 9)))
               : add(fmt::format("gzip:{}", std::clamp<std::int64_t>(level, 1, 9)));
    } else if (codec.name == "zstd" && in_blosc) {
      add(fmt::format("blosc:zstd:{}:shuffle", std::clamp<std::int64_t>(codec.integer("level", 1), 1, 9)));
    } else if (codec.name == "lz4" || codec.name == "hdf5-lz4" || codec.name == "lzf") {
      fits_blosc ? add(fmt::format("blosc:lz4:5:{}", shuffled ? "shuffle" : "noshuffle")) : add("zstd:1");
    } else if (codec.name == "fletcher32") {
      add("crc32c");
    } else if (codec.name == "zstd" || codec.name == "blosc" || codec.name == "crc32c") {
      core.push_back(codec);
    } else if (codec.name == "bz2") {
      add("zstd:9");
    } else if (const std::string near = blosc_like(codec, chunk_bytes); near != "none") {
      add(near);
    }
  }
  return core;
}

// Shards are written one level deep.
void flatten_shards(ArrayMeta& meta, AdaptReport& report) {
  if (meta.shards.size() <= 1) return;
  report.notes.push_back(fmt::format("{}: shards of {} inside shards of {} become shards of {} with chunks of {}",
                                     meta.path, to_string(meta.shards[1].shape), to_string(meta.unit()),
                                     to_string(meta.unit()), to_string(meta.chunk)));
  meta.shards.resize(1);
}

}  // namespace

void adapt(Hierarchy& tree, AdaptReport& report) {
  adapt_to_zarr(tree, report);
  for (ArrayNode& node : tree.arrays) {
    ZarrArray& native = zarr_native(node);
    if (tree.format != "zarr3") {
      native.separator = 0;
      native.v2_keys = false;
      replace_codecs(node, to_core(node.meta.codecs, node.meta.chunk_bytes()), "which every Zarr v3 reader decodes",
                     report);
    }
    flatten_shards(node.meta, report);
    for (Attribute& attribute : node.attributes) {
      // In Zarr v3 the fill value masks nothing, so what it implied must be spelled out.
      const auto* spelling = dynamic_cast<const JsonSpelling*>(attribute.native.get());
      if (spelling != nullptr && spelling->implied) attribute.native = nullptr;
    }
  }
}

void check(const Hierarchy& tree) {
  for (const ArrayNode& node : tree.arrays) {
    check_zarr_array(node.meta, "Zarr v3", has_spelling);
    try {
      shard_index_forms(node.meta);
    } catch (Error& error) {
      throw error.in(node.meta.path);
    }
  }
}

}  // namespace chunkwise::zarr3
