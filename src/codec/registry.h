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
#include "codec/elements.h"
#include "codec/spec.h"
#include "grid/shape.h"

namespace chunkwise {

/// What the parameters of some codecs follow: the chunk as they see it.
struct ChunkTraits {
  Shape chunk;
  Elements elements;
};

/// Where a codec may stand in the list of zarr 3: before, at, or after the place where an array becomes bytes.
enum class Zarr3Place { array_to_array, array_to_bytes, bytes_to_bytes };

/// What a codec is for, so that a format that does not have it can take another one.
enum class CodecRole {
  compressor,
  arranges,  // makes a compressor after it better
  packs,     // makes numbers that take fewer bytes
  checksum,
  rounds,  // has changed the numbers that a program wrote; stores them as they are
};

/// A codec owns every spelling of itself. Members may be left out where the spelling does not exist.
struct CodecRow {
  std::string_view name = {};     // canonical, also on the command line: "deflate"
  std::string_view alias = {};    // second command-line spelling ("zlib"), or empty
  std::string_view summary = {};  // for the table in the README
  std::string_view usage = {};    // "deflate[:LEVEL]  zlib stream, level 1-9 (default 1)" for --help and error hints

  CodecRole role = CodecRole::compressor;

  /// `element_bytes` is the length of the elements that this codec sees.
  std::unique_ptr<Codec> (*bind)(const CodecSpec& spec, std::size_t element_bytes) = nullptr;
  /// Parameters for chunks of another kind than `spec` is for; null where they do not depend on the chunk. Throws
  /// Error{unsupported} for chunks the codec cannot take.
  CodecSpec (*for_chunk)(const CodecSpec& spec, const ChunkTraits& traits) = nullptr;
  /// What the next codec sees; null where that is the same, or where nobody asks, as after compressors.
  Elements (*encoded_elements)(const CodecSpec& spec, const Elements& decoded) = nullptr;
  /// Arguments after the name: "blosc:zstd:5:shuffle" -> {"zstd", "5", "shuffle"}. Throws Error{usage}. Null for codecs
  /// that are only kept, never asked for.
  CodecSpec (*parse)(std::span<const std::string_view> arguments) = nullptr;
  /// The inverse: "deflate:1".
  std::string (*print)(const CodecSpec& spec) = nullptr;

  int hdf5_filter = 0;  // 0: none
  CodecSpec (*from_hdf5)(std::span<const unsigned> cd_values) = nullptr;
  std::vector<unsigned> (*to_hdf5)(const CodecSpec& spec, std::size_t element_bytes, std::size_t chunk_bytes) = nullptr;

  std::string_view zarr2_id = {};  // empty: none
  CodecSpec (*from_zarr2)(const Json& config) = nullptr;
  Json (*to_zarr2)(const CodecSpec& spec, std::size_t element_bytes) = nullptr;

  std::string_view zarr3_name = {};   // empty: none; that which zarr-python 3 reads
  std::string_view zarr3_alias = {};  // also read, e.g. "numcodecs.zlib"
  Zarr3Place zarr3_place = Zarr3Place::bytes_to_bytes;
  /// Null where it is always zarr3_name.
  std::string_view (*zarr3_name_of)(const CodecSpec& spec) = nullptr;
  CodecSpec (*from_zarr3)(const Json& configuration) = nullptr;
  // The "configuration" object. zarr-python wants the member for its "numcodecs." names even where it is empty.
  Json (*to_zarr3)(const CodecSpec& spec, std::size_t element_bytes) = nullptr;
};

std::span<const CodecRow> codec_rows();
const CodecRow* find_codec(std::string_view name);
/// By either of the spellings of the command line.
const CodecRow* find_codec_by_request(std::string_view word);
const CodecRow* find_codec_by_hdf5(int filter);
const CodecRow* find_codec_by_zarr2(std::string_view id);
const CodecRow* find_codec_by_zarr3(std::string_view name);
/// Codecs that are not in the table count as compressors.
CodecRole role_of(const CodecSpec& spec);

/// What the codec after this one sees. Throws Error{unsupported} for parameters that `bind` refuses.
Elements encoded_elements(const CodecSpec& spec, const Elements& decoded);

/// The same codecs with the parameters that such chunks need.
CodecSpecs for_chunk(const CodecSpecs& specs, const ChunkTraits& traits);

/// "shuffle,deflate:1", "zstd:3", "none" (empty result). Throws Error{usage} with a suggestion for unknown names.
CodecSpecs parse_codecs(std::string_view text);

}  // namespace chunkwise
