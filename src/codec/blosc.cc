// Canonical "blosc": Blosc 1 buffers; HDF5 filter 32001, numcodecs and zarr 3 "blosc".
//
// Only the calls with a context of their own are used: the others share global state.
#include <blosc.h>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/json.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

// By the codes that HDF5 parameters use.
constexpr const char* kCnames[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
// By the code in the header of a buffer: what decodes it.
constexpr const char* kFormats[] = {"blosclz", "lz4", "snappy", "zlib", "zstd"};
// By Blosc's own numbers.
constexpr const char* kShuffles[] = {"noshuffle", "shuffle", "bitshuffle", "auto"};
constexpr std::pair<std::string_view, std::size_t> kShufflesOfGdal[] = {
    {"NONE", BLOSC_NOSHUFFLE}, {"BYTE", BLOSC_SHUFFLE}, {"BIT", BLOSC_BITSHUFFLE},
    {"0", BLOSC_NOSHUFFLE},    {"1", BLOSC_SHUFFLE},    {"2", BLOSC_BITSHUFFLE}};
// numcodecs' -1: bit shuffle for elements of one byte, byte shuffle for larger ones.
constexpr std::size_t kAuto = 3;

constexpr IntegerRange kSizeRange{0, 2147483647};
constexpr Parameter kCname{.key = "cname",
                           .what = "compressor",
                           .words = kCnames,
                           .otherwise = BLOSC_ZSTD,
                           .member = "cname",
                           .absent = BLOSC_LZ4};
constexpr Parameter kLevel{.key = "level", .otherwise = 5, .asked = {0, 9}, .member = "clevel"};
constexpr Parameter kShuffle{.key = "shuffle", .words = kShuffles, .otherwise = BLOSC_SHUFFLE};
constexpr Parameter kTypesize{
    .key = "typesize", .asked = kSizeRange, .optional = true, .argument = false, .member = "typesize"};
constexpr Parameter kBlocksize{
    .key = "blocksize", .asked = kSizeRange, .optional = true, .argument = false, .member = "blocksize"};
constexpr Parameter kRows[] = {kCname, kLevel, kShuffle, kTypesize, kBlocksize};
constexpr Parameters kBlosc{
    "blosc",
    "blosc[:CNAME[:LEVEL[:SHUFFLE]]]  CNAME blosclz, lz4, lz4hc, snappy, zlib or zstd; LEVEL 0-9; SHUFFLE noshuffle, "
    "shuffle, bitshuffle or auto (default zstd:5:shuffle)",
    kRows, "blosc"};

bool built_in(const char* cname) {
  return blosc_compname_to_compcode(cname) >= 0;
}

[[noreturn]] void throw_not_built_in(const char* cname) {
  throw Error(Code::unsupported, fmt::format("blosc compressor '{}' is not supported here", cname));
}

struct Choice {
  const char* cname;
  int level;
  int shuffle;
  std::size_t typesize;
  std::size_t blocksize;
};

class Blosc final : public Codec {
 public:
  explicit Blosc(const Choice& choice) : choice_(choice) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes + BLOSC_MAX_OVERHEAD; }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    // Two blocks and the tables of the compressor inside, which only for zstd depend on the block. Blosc's own choice
    // of block, as measured, is at most what is said here.
    constexpr std::size_t kTableBytes = std::size_t{1} << 20;
    const bool zstd = choice_.cname == kCnames[BLOSC_ZSTD];
    const std::size_t automatic = zstd && choice_.level <= 5 ? std::size_t{256} << 10 : std::size_t{1} << 20;
    const std::size_t block = std::min(choice_.blocksize != 0 ? choice_.blocksize : automatic, decoded_bytes);
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
        blosc_compress_ctx(choice_.level, choice_.shuffle, choice_.typesize, decoded.size(), decoded.data(),
                           encoded.data(), encoded.size(), choice_.cname, choice_.blocksize, 1);
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

  Choice choice_;
};

// ---- spellings

const char* cname_of(const CodecSpec& spec) {
  return kCnames[kCname.word(spec)];
}

int level_of(const CodecSpec& spec) {
  return static_cast<int>(kLevel.integer(spec));
}

// Blosc treats elements above its limit as bytes.
std::int64_t typesize_of(const CodecSpec& spec, std::size_t element_bytes) {
  std::int64_t typesize = kTypesize.integer(spec);
  if (typesize == 0) typesize = static_cast<std::int64_t>(std::min(element_bytes, std::size_t{BLOSC_MAX_TYPESIZE + 1}));
  return typesize == 0 || typesize > BLOSC_MAX_TYPESIZE ? 1 : typesize;
}

int shuffle_of(const CodecSpec& spec, std::size_t element_bytes) {
  const std::size_t shuffle = kShuffle.word(spec);
  if (shuffle != kAuto) return static_cast<int>(shuffle);
  return typesize_of(spec, element_bytes) == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  const Choice choice{cname_of(spec), level_of(spec), shuffle_of(spec, element_bytes),
                      static_cast<std::size_t>(typesize_of(spec, element_bytes)),
                      static_cast<std::size_t>(kBlocksize.integer(spec))};
  if (!built_in(choice.cname)) throw_not_built_in(choice.cname);
  return std::make_unique<Blosc>(choice);
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  CodecSpec spec = parse_arguments(kBlosc, arguments);
  if (!built_in(cname_of(spec))) throw_not_built_in(cname_of(spec));
  return spec;
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  // Revision, format, typesize, chunk bytes, then the user's choice, of which a tail may be missing.
  const auto value = [&](std::size_t i, unsigned otherwise) { return i < cd_values.size() ? cd_values[i] : otherwise; };
  const unsigned shuffle = value(5, BLOSC_SHUFFLE);
  const unsigned compcode = value(6, BLOSC_BLOSCLZ);
  require_parameter(shuffle, {0, kAuto - 1}, "blosc", kShuffle.key);
  require_parameter(compcode, {0, std::size(kCnames) - 1}, "blosc", "compressor code");
  CodecSpec spec{"blosc",
                 {{kCname.key, std::string(kCnames[compcode])},
                  {kLevel.key, std::int64_t{value(4, 5)}},
                  {kShuffle.key, std::string(kShuffles[shuffle])}}};
  if (value(2, 0) != 0) spec.params[kTypesize.key] = std::int64_t{value(2, 0)};
  level_of(spec);
  typesize_of(spec, 1);
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
          static_cast<unsigned>(kCname.word(spec))};
}

// numcodecs writes the shuffle as a number, zarr 3 as a name, GDAL in one of the ways its user may put it.
std::size_t shuffle_from_json(const Json& config) {
  if (config.is_object() && config.contains(kShuffle.key) && config.at(kShuffle.key).is_string()) {
    const std::string word = config.at(kShuffle.key).get<std::string>();
    for (const auto& [spelled, shuffle] : kShufflesOfGdal)
      if (word == spelled) return shuffle;
    return kShuffle.word({"blosc", {{kShuffle.key, word}}});
  }
  const std::int64_t code = config_integer(config, kShuffle.key, BLOSC_SHUFFLE, {-1, kAuto - 1}, "blosc");
  return code < 0 ? kAuto : static_cast<std::size_t>(code);
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec = from_members(kBlosc, config);
  spec.params[kShuffle.key] = kShuffles[shuffle_from_json(config)];
  return spec;
}

// The typesize is that of the array; older numcodecs do not know the member.
Json to_zarr2(const CodecSpec& spec, std::size_t) {
  const std::size_t shuffle = kShuffle.word(spec);
  return Json{{"id", "blosc"},
              {kCname.member, cname_of(spec)},
              {kLevel.member, level_of(spec)},
              {kShuffle.key, shuffle == kAuto ? -1 : static_cast<int>(shuffle)},
              {kBlocksize.member, kBlocksize.integer(spec)}};
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{kTypesize.member, typesize_of(spec, element_bytes)},
              {kCname.member, cname_of(spec)},
              {kLevel.member, level_of(spec)},
              {kShuffle.key, kShuffles[shuffle_of(spec, element_bytes)]},
              {kBlocksize.member, kBlocksize.integer(spec)}};
}

}  // namespace

constexpr CodecRow kBloscRow{
    .name = kBlosc.codec,
    .summary = "Blosc 1 with any of its compressors inside",
    .usage = kBlosc.usage,
    .bind = bind,
    .parse = parse,
    .print = print_by<kBlosc>,
    .hdf5_filter = 32001,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = kBlosc.zarr2_id,
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "blosc",
    .zarr3_alias = "numcodecs.blosc",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
