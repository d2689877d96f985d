// Canonical "blosc": Blosc 1 buffers; HDF5 filter 32001, numcodecs and zarr 3 "blosc".
//
// Only the calls with a context of their own are used: the others share global state.
#include <blosc.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/json.h"
#include "base/suggest.h"
#include "codec/config.h"
#include "codec/endian.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr std::string_view kUsage =
    "blosc[:CNAME[:LEVEL[:SHUFFLE]]]  CNAME blosclz, lz4, lz4hc, snappy, zlib or zstd; LEVEL 0-9; SHUFFLE noshuffle, "
    "shuffle, "
    "bitshuffle or auto (default zstd:5:shuffle)";
constexpr const char* kCname = "cname";
constexpr const char* kLevel = "level";
constexpr const char* kShuffle = "shuffle";
constexpr const char* kTypesize = "typesize";
constexpr const char* kBlocksize = "blocksize";
constexpr IntegerRange kLevelRange{0, 9};
constexpr IntegerRange kTypesizeRange{0, 2147483647};
constexpr IntegerRange kBlocksizeRange{0, 2147483647};

// By the codes that HDF5 parameters use.
constexpr const char* kCnames[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
// By the code in the header of a buffer: what decodes it.
constexpr const char* kFormats[] = {"blosclz", "lz4", "snappy", "zlib", "zstd"};
// By Blosc's own numbers.
constexpr const char* kShuffles[] = {"noshuffle", "shuffle", "bitshuffle"};
// numcodecs' -1: bit shuffle for elements of one byte, byte shuffle for larger ones.
constexpr const char* kAuto = "auto";

template <std::size_t n>
int index_of(const char* const (&names)[n], const std::string& name) {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return found != std::end(names) ? static_cast<int>(found - std::begin(names)) : -1;
}

bool built_in(const char* cname) {
  return blosc_compname_to_compcode(cname) >= 0;
}

[[noreturn]] void throw_not_built_in(const char* cname) {
  throw Error(Code::unsupported, fmt::format("blosc compressor '{}' is not supported here", cname));
}

struct Parameters {
  const char* cname;
  int level;
  int shuffle;
  std::size_t typesize;
  std::size_t blocksize;
};

class Blosc final : public Codec {
 public:
  explicit Blosc(const Parameters& parameters) : parameters_(parameters) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes + BLOSC_MAX_OVERHEAD; }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    // Two blocks and the tables of the compressor inside, which only for zstd depend on the block. Blosc's own choice
    // of block, as measured, is at most what is said here.
    constexpr std::size_t kTableBytes = std::size_t{1} << 20;
    const bool zstd = parameters_.cname == kCnames[BLOSC_ZSTD];
    const std::size_t automatic = zstd && parameters_.level <= 5 ? std::size_t{256} << 10 : std::size_t{1} << 20;
    const std::size_t block = std::min(parameters_.blocksize != 0 ? parameters_.blocksize : automatic, decoded_bytes);
    return (zstd ? 18 : 2) * block + kTableBytes;
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() > BLOSC_MAX_BUFFERSIZE) {
      throw Error(
          Code::unsupported,
          fmt::format("blosc cannot hold a chunk of {} bytes, at most {}", decoded.size(), BLOSC_MAX_BUFFERSIZE),
          "choose smaller chunks or another codec, such as zstd");
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    const int size =
        blosc_compress_ctx(parameters_.level, parameters_.shuffle, parameters_.typesize, decoded.size(), decoded.data(),
                           encoded.data(), encoded.size(), parameters_.cname, parameters_.blocksize, 1);
    CHUNKWISE_CHECK(size > 0);
    encoded.resize(static_cast<std::size_t>(size));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    const std::size_t size = validate(encoded);
    if (size > max_decoded_bytes) throw_decoded_too_large("blosc", max_decoded_bytes);
    decoded.resize_discard(size);
    if (size == 0) return;
    const int made = blosc_decompress_ctx(encoded.data(), decoded.data(), size, 1);
    if (made < 0 || static_cast<std::size_t>(made) != size) {
      throw Error(Code::corrupt, "blosc data is damaged");
    }
  }

 private:
  // Checks the header against the bytes there are, cuts what follows the buffer, and returns the decoded size.
  static std::size_t validate(ByteView& encoded) {
    if (encoded.size() < BLOSC_MIN_HEADER_LENGTH) throw Error(Code::corrupt, "blosc data ends inside its header");
    const std::size_t size = load_little<std::uint32_t>(encoded.data() + 4);
    const std::size_t block = load_little<std::uint32_t>(encoded.data() + 8);
    const std::size_t stored = load_little<std::uint32_t>(encoded.data() + 12);
    if (stored > encoded.size()) throw Error(Code::corrupt, "blosc data ends early");
    if (stored < BLOSC_MIN_HEADER_LENGTH || size > BLOSC_MAX_BUFFERSIZE || (size > 0 && (block == 0 || block > size))) {
      throw Error(Code::corrupt, "blosc header contradicts itself");
    }
    encoded = encoded.first(stored);
    const auto flags = static_cast<unsigned>(encoded[2]);
    const unsigned format = flags >> 5;
    const bool plain = (flags & BLOSC_MEMCPYED) != 0;
    if (!plain && size > 0) {
      if (format >= std::size(kFormats)) throw Error(Code::corrupt, "blosc header names no known compressor");
      if (!built_in(kFormats[format])) throw_not_built_in(kFormats[format]);
    }
    std::size_t confirmed = 0;
    if (size > 0 && (blosc_cbuffer_validate(encoded.data(), encoded.size(), &confirmed) < 0 || confirmed != size)) {
      throw Error(Code::corrupt, "blosc header contradicts itself");
    }
    return size;
  }

  Parameters parameters_;
};

// ---- spellings

const char* cname_of(const CodecSpec& spec) {
  const std::string name = spec.text(kCname, "zstd");
  const int code = index_of(kCnames, name);
  if (code < 0) throw Error(Code::corrupt, fmt::format("codec 'blosc': there is no compressor '{}'", name));
  return kCnames[code];
}

int level_of(const CodecSpec& spec) {
  const std::int64_t level = spec.integer(kLevel, 5);
  require_parameter(level, kLevelRange, "blosc", kLevel);
  return static_cast<int>(level);
}

// Blosc treats elements above its limit as bytes.
std::int64_t typesize_of(const CodecSpec& spec, std::size_t element_bytes) {
  std::int64_t typesize = spec.integer(kTypesize, 0);
  require_parameter(typesize, kTypesizeRange, "blosc", kTypesize);
  if (typesize == 0) typesize = static_cast<std::int64_t>(std::min(element_bytes, std::size_t{BLOSC_MAX_TYPESIZE + 1}));
  return typesize == 0 || typesize > BLOSC_MAX_TYPESIZE ? 1 : typesize;
}

int shuffle_of(const CodecSpec& spec, std::size_t element_bytes) {
  const std::string name = spec.text(kShuffle, "shuffle");
  if (name == kAuto) return typesize_of(spec, element_bytes) == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
  const int code = index_of(kShuffles, name);
  if (code < 0) throw Error(Code::corrupt, fmt::format("codec 'blosc': there is no shuffle '{}'", name));
  return code;
}

std::int64_t blocksize_of(const CodecSpec& spec) {
  const std::int64_t blocksize = spec.integer(kBlocksize, 0);
  require_parameter(blocksize, kBlocksizeRange, "blosc", kBlocksize);
  return blocksize;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  const Parameters parameters{cname_of(spec), level_of(spec), shuffle_of(spec, element_bytes),
                              static_cast<std::size_t>(typesize_of(spec, element_bytes)),
                              static_cast<std::size_t>(blocksize_of(spec))};
  if (!built_in(parameters.cname)) throw_not_built_in(parameters.cname);
  return std::make_unique<Blosc>(parameters);
}

std::string checked_name(std::string_view name, const char* what, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return std::string(name);
  throw Error(Code::usage, fmt::format("'{}' is not a blosc {}", name, what), suggest(name, known));
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 3, kUsage);
  std::string cname = "zstd";
  std::string shuffle = "shuffle";
  if (!arguments.empty()) {
    std::vector<std::string> known;
    std::copy_if(std::begin(kCnames), std::end(kCnames), std::back_inserter(known), built_in);
    cname = checked_name(arguments[0], "compressor", known);
  }
  if (arguments.size() > 2) {
    std::vector<std::string> known(std::begin(kShuffles), std::end(kShuffles));
    known.emplace_back(kAuto);
    shuffle = checked_name(arguments[2], "shuffle", known);
  }
  const std::int64_t level = argument_integer(arguments, 1, "level", 5, kLevelRange, kUsage);
  return {"blosc", {{kCname, cname}, {kLevel, level}, {kShuffle, shuffle}}};
}

std::string print(const CodecSpec& spec) {
  return fmt::format("blosc:{}:{}:{}", cname_of(spec), level_of(spec), spec.text(kShuffle, "shuffle"));
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  // Revision, format, typesize, chunk bytes, then the user's choice, of which a tail may be missing.
  const auto value = [&](std::size_t i, unsigned otherwise) { return i < cd_values.size() ? cd_values[i] : otherwise; };
  const unsigned level = value(4, 5);
  const unsigned shuffle = value(5, BLOSC_SHUFFLE);
  const unsigned compcode = value(6, BLOSC_BLOSCLZ);
  require_parameter(level, kLevelRange, "blosc", kLevel);
  require_parameter(shuffle, {0, std::size(kShuffles) - 1}, "blosc", kShuffle);
  require_parameter(compcode, {0, std::size(kCnames) - 1}, "blosc", "compressor code");
  CodecSpec spec{"blosc",
                 {{kCname, std::string(kCnames[compcode])},
                  {kLevel, std::int64_t{level}},
                  {kShuffle, std::string(kShuffles[shuffle])}}};
  if (value(2, 0) != 0) {
    require_parameter(value(2, 0), kTypesizeRange, "blosc", kTypesize);
    spec.params[kTypesize] = std::int64_t{value(2, 0)};
  }
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t chunk_bytes) {
  constexpr unsigned kFilterRevision = 2;
  if (chunk_bytes > BLOSC_MAX_BUFFERSIZE) {
    throw Error(Code::unsupported,
                fmt::format("blosc cannot hold a chunk of {} bytes, at most {}", chunk_bytes, BLOSC_MAX_BUFFERSIZE),
                "choose smaller chunks or another codec, such as zstd");
  }
  return {kFilterRevision,
          BLOSC_VERSION_FORMAT,
          static_cast<unsigned>(typesize_of(spec, element_bytes)),
          static_cast<unsigned>(chunk_bytes),
          static_cast<unsigned>(level_of(spec)),
          static_cast<unsigned>(shuffle_of(spec, element_bytes)),
          static_cast<unsigned>(index_of(kCnames, cname_of(spec)))};
}

// numcodecs writes the shuffle as a number, zarr 3 as a name.
std::string shuffle_from_json(const Json& config) {
  if (config.is_object() && config.contains(kShuffle) && config.at(kShuffle).is_string()) {
    const std::string name = config.at(kShuffle).get<std::string>();
    if (index_of(kShuffles, name) < 0) {
      throw Error(Code::corrupt, fmt::format("codec 'blosc': there is no shuffle '{}'", name));
    }
    return name;
  }
  const std::int64_t code = config_integer(config, kShuffle, BLOSC_SHUFFLE, {-1, std::size(kShuffles) - 1}, "blosc");
  return code < 0 ? kAuto : kShuffles[code];
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec{"blosc",
                 {{kCname, config_text(config, kCname, "lz4", "blosc")},
                  {kLevel, config_integer(config, "clevel", 5, kLevelRange, "blosc")},
                  {kShuffle, shuffle_from_json(config)}}};
  cname_of(spec);
  const std::int64_t typesize = config_integer(config, kTypesize, 0, kTypesizeRange, "blosc");
  const std::int64_t blocksize = config_integer(config, kBlocksize, 0, kBlocksizeRange, "blosc");
  if (typesize != 0) spec.params[kTypesize] = typesize;
  if (blocksize != 0) spec.params[kBlocksize] = blocksize;
  return spec;
}

Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  const bool automatic = spec.text(kShuffle, "shuffle") == kAuto;
  return Json{{"id", "blosc"},
              {kCname, cname_of(spec)},
              {"clevel", level_of(spec)},
              {kShuffle, automatic ? -1 : shuffle_of(spec, element_bytes)},
              {kBlocksize, blocksize_of(spec)}};
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{kTypesize, typesize_of(spec, element_bytes)},
              {kCname, cname_of(spec)},
              {"clevel", level_of(spec)},
              {kShuffle, kShuffles[shuffle_of(spec, element_bytes)]},
              {kBlocksize, blocksize_of(spec)}};
}

}  // namespace

constexpr CodecRow kBloscRow{
    .name = "blosc",
    .alias = {},
    .summary = "Blosc 1 with any of its compressors inside",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = nullptr,
    .parse = parse,
    .print = print,
    .hdf5_filter = 32001,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = "blosc",
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "blosc",
    .zarr3_alias = "numcodecs.blosc",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
