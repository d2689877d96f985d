#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "array/element_change.h"
#include "array/json_attributes.h"
#include "array/shard_index.h"
#include "array/zarr_adapt.h"
#include "base/error.h"
#include "codec/foreign.h"
#include "codec/registry.h"
#include "format/zarr3/format.h"
#include "format/zarr3/metadata.h"
#include "format/zarr3/types.h"

namespace chunkwise::zarr3 {
namespace {

constexpr std::size_t kMaxBloscBytes = std::size_t{1} << 31;

bool has_spelling(const std::string& codec) {
  if (codec == "byteswap" || is_foreign_to("zarr3", codec)) return true;
  const CodecRow* row = find_codec(codec);
  return row != nullptr && row->to_zarr3 != nullptr && !row->zarr3_name.empty();
}

// Codecs of the core specification and its registered extensions that every reader has: gzip, zstd, blosc, crc32c.
// Shuffling exists only inside blosc there.
CodecSpecs to_core(const CodecSpecs& codecs, std::size_t chunk_bytes) {
  const bool fits_blosc = chunk_bytes < kMaxBloscBytes;
  bool shuffled = false;
  bool packed = false;
  bool compressed = false;
  CodecSpecs core;
  const auto add = [&](const std::string& spelled) {
    core.push_back(parse_codecs(spelled).front());
    compressed = compressed || role_of(core.back()) == CodecRole::compressor;
  };
  for (const CodecSpec& codec : codecs) {
    const CodecRole role = role_of(codec);
    const bool in_blosc = shuffled && fits_blosc;
    if (role == CodecRole::arranges || role == CodecRole::packs) {
      // What is not packed any more wants a compressor that does as much.
      shuffled = true;
      packed = packed || role == CodecRole::packs;
    } else if (role == CodecRole::checksum) {
      add("crc32c");
    } else if (role == CodecRole::rounds || codec.name == "base64") {
      // Nothing is encoded.
    } else if (codec.name == "deflate" || codec.name == "gzip") {
      const auto level = codec.integer("level", 1);
      // zstd inside blosc reaches the ratio of deflate at about half its level.
      in_blosc ? add(fmt::format("blosc:zstd:{}:shuffle", std::clamp<std::int64_t>((level + 1) / 2, 1, 9)))
               : add(fmt::format("gzip:{}", std::clamp<std::int64_t>(level, 1, 9)));
    } else if (codec.name == "zstd" && in_blosc) {
      add(fmt::format("blosc:zstd:{}:shuffle", std::clamp<std::int64_t>(codec.integer("level", 1), 1, 9)));
    } else if (codec.name == "lz4" || codec.name == "hdf5-lz4" || codec.name == "lzf") {
      fits_blosc ? add(fmt::format("blosc:lz4:5:{}", shuffled ? "shuffle" : "noshuffle")) : add("zstd:1");
    } else if (codec.name == "zstd" || codec.name == "blosc") {
      core.push_back(codec);
      // Elements may be of another length than those that were packed.
      if (shuffled) core.back().params.erase("typesize");
      compressed = true;
    } else if (codec.name == "bz2" || codec.name == "lzma") {
      add("zstd:9");
    } else if (const std::string near = blosc_like(codec, chunk_bytes); near != "none") {
      add(near);
    }
  }
  if (packed && !compressed) {
    core.insert(core.begin(), parse_codecs(fits_blosc ? "blosc:zstd:1:shuffle" : "zstd:1").front());
  }
  return core;
}

// All members of a structured type have one byte order.
void unify_member_order(ArrayMeta& meta) {
  if (!has_byte_order(meta.dtype) || meta.dtype.members.empty() || common_byte_order(meta.dtype)) return;
  const ArrayMeta mixed = meta;
  set_member_order(meta.dtype, ByteOrder::little);
  ElementChange(mixed, meta).apply(meta.fill);
  meta.dtype.named.clear();
}

// Codecs of arrays come first.
void check_places(const ArrayMeta& meta) {
  const CodecSpec* of_bytes = nullptr;
  for (const CodecSpec& codec : meta.codecs) {
    const CodecRow* row = find_codec(codec.name);
    if (row == nullptr || codec.name == "byteswap") continue;
    if (row->zarr3_place == Zarr3Place::bytes_to_bytes) {
      of_bytes = &codec;
    } else if (meta.dtype.is_varying()) {
      throw Error(Code::unsupported,
                  fmt::format("{} is no codec for elements of type {}", codec.name, meta.dtype.name()),
                  "choose others with --codec")
          .in(meta.path);
    } else if (of_bytes != nullptr) {
      throw Error(Code::unsupported, fmt::format("Zarr v3 has no codec {} after {}", codec.name, of_bytes->name),
                  "choose others with --codec")
          .in(meta.path);
    }
  }
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
  adapt_to_zarr(tree, "zarr3", has_type, report);
  for (ArrayNode& node : tree.arrays) {
    ZarrArray& native = zarr_native(node);
    unify_member_order(node.meta);
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
    check_zarr_array(node.meta, "Zarr v3", has_type, has_spelling);
    check_places(node.meta);
    try {
      shard_index_forms(node.meta);
    } catch (Error& error) {
      throw error.in(node.meta.path);
    }
  }
}

}  // namespace chunkwise::zarr3
