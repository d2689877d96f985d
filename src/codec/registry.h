// The table of codecs: a new codec is one .cc file and one row.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "codec/codec.h"
#include "codec/spec.h"
#include "grid/strided_copy.h"

namespace chunkwise {

/// What the parameters of some codecs follow: the decoded chunk.
struct ChunkTraits {
  Shape chunk;
  std::size_t element_bytes = 1;
  ByteOrder byte_order = kNativeOrder;
};

/// A codec owns every spelling of itself. Function members may be null where the spelling does not exist.
struct CodecRow {
  std::string_view name;     // canonical, also on the command line: "deflate"
  std::string_view alias;    // second command-line spelling ("zlib"), or empty
  std::string_view summary;  // for the table in the README
  std::string_view usage;    // "deflate[:LEVEL]  zlib stream, level 1-9 (default 1)" for --help and error hints

  std::unique_ptr<Codec> (*bind)(const CodecSpec& spec, std::size_t element_bytes);
  /// Parameters for chunks of another kind than `spec` is for; null where they do not depend on the chunk. Throws
  /// Error{unsupported} for chunks the codec cannot take.
  CodecSpec (*for_chunk)(const CodecSpec& spec, const ChunkTraits& traits);
  /// Arguments after the name: "blosc:zstd:5:shuffle" -> {"zstd", "5", "shuffle"}. Throws Error{usage}. Null for codecs
  /// that are only kept, never asked for.
  CodecSpec (*parse)(std::span<const std::string_view> arguments);
  /// The inverse: "deflate:1".
  std::string (*print)(const CodecSpec& spec);

  int hdf5_filter;  // 0: none
  CodecSpec (*from_hdf5)(std::span<const unsigned> cd_values);
  std::vector<unsigned> (*to_hdf5)(const CodecSpec& spec, std::size_t element_bytes, std::size_t chunk_bytes);

  std::string_view zarr2_id;  // empty: none
  CodecSpec (*from_zarr2)(const Json& config);
  Json (*to_zarr2)(const CodecSpec& spec, std::size_t element_bytes);

  std::string_view zarr3_name;   // empty: none
  std::string_view zarr3_alias;  // also read, e.g. "numcodecs.zlib"
  CodecSpec (*from_zarr3)(const Json& configuration);
  // The "configuration" object. zarr-python wants the member for its "numcodecs." names even where it is empty.
  Json (*to_zarr3)(const CodecSpec& spec, std::size_t element_bytes);
};

std::span<const CodecRow> codec_rows();
const CodecRow* find_codec(std::string_view name);
/// By either of the spellings of the command line.
const CodecRow* find_codec_by_request(std::string_view word);
const CodecRow* find_codec_by_hdf5(int filter);
const CodecRow* find_codec_by_zarr2(std::string_view id);
const CodecRow* find_codec_by_zarr3(std::string_view name);

/// The same codecs with the parameters that such chunks need.
CodecSpecs for_chunk(const CodecSpecs& specs, const ChunkTraits& traits);

/// "shuffle,deflate:1", "zstd:3", "none" (empty result). Throws Error{usage} with a suggestion for unknown names.
CodecSpecs parse_codecs(std::string_view text);

}  // namespace chunkwise
