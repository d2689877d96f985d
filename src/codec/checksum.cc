// Checksums of 4 bytes, least significant first, before or after the data:
// "fletcher32"       HDF5 filter 3, numcodecs, zarr 3 "numcodecs.fletcher32"; at the end. Old HDF5 on little-endian
//                    machines wrote the two bytes of each half the other way round, and HDF5 still accepts that.
// "crc32c"           zarr 3 and numcodecs; at the end unless numcodecs was told otherwise
// "crc32", "adler32" numcodecs, zarr 3 "numcodecs.crc32", "numcodecs.adler32"; at the start unless told otherwise
// "jenkins_lookup3"  numcodecs, zarr 3 "numcodecs.jenkins_lookup3"; at the end
#include "codec/checksums.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr std::size_t kChecksumBytes = 4;
constexpr const char* kPlaces[] = {"start", "end"};
enum Place : std::int64_t { kStart, kEnd };
constexpr const char* kLocation = "location";

constexpr Parameter kAtStart[] = {
    {.key = kLocation, .words = kPlaces, .otherwise = kStart, .optional = true, .argument = false, .member = kLocation},
};
constexpr Parameter kAtEnd[] = {
    {.key = kLocation, .words = kPlaces, .otherwise = kEnd, .optional = true, .argument = false, .member = kLocation},
};
constexpr Parameter kInitial{.key = "initval", .asked = {0, 0xFFFFFFFFLL}, .argument = false, .member = "initval"};

constexpr Parameters kFletcher32{"fletcher32", "fletcher32  checksum of 4 bytes, as in HDF5", {}, "fletcher32"};
constexpr Parameters kCrc32c{"crc32c", "crc32c  checksum of 4 bytes, as in zarr 3", kAtEnd, "crc32c"};
constexpr Parameters kCrc32{"crc32", "crc32  checksum of 4 bytes", kAtStart, "crc32"};
constexpr Parameters kAdler32{"adler32", "adler32  checksum of 4 bytes", kAtStart, "adler32"};
constexpr Parameters kJenkins{
    "jenkins_lookup3", "jenkins_lookup3  checksum of 4 bytes", {&kInitial, 1}, "jenkins_lookup3"};

struct Kind {
  const Parameters* parameters;
  std::uint32_t (*sum)(ByteView data, std::uint32_t initial);
  /// Another form of the sum that is taken for right; null if there is none.
  std::uint32_t (*other_form)(std::uint32_t sum) = nullptr;
};

template <std::uint32_t (*sum)(ByteView)>
std::uint32_t without_initial(ByteView data, std::uint32_t) {
  return sum(data);
}

std::uint32_t swap_in_halves(std::uint32_t sum) {
  return (sum & 0x00FF00FF) << 8 | (sum >> 8 & 0x00FF00FF);
}

constexpr Kind kFletcher32Kind{&kFletcher32, without_initial<fletcher32>, swap_in_halves};
constexpr Kind kCrc32cKind{&kCrc32c, without_initial<crc32c>};
constexpr Kind kCrc32Kind{&kCrc32, without_initial<crc32>};
constexpr Kind kAdler32Kind{&kAdler32, without_initial<adler32>};
constexpr Kind kJenkinsKind{&kJenkins, jenkins_lookup3};

class Checksum final : public Codec {
 public:
  Checksum(const Kind& kind, bool at_start, std::uint32_t initial)
      : kind_(kind), at_start_(at_start), initial_(initial) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes + kChecksumBytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(decoded.size() + kChecksumBytes);
    if (!decoded.empty()) {
      std::memcpy(encoded.data() + (at_start_ ? kChecksumBytes : 0), decoded.data(), decoded.size());
    }
    store_little(kind_.sum(decoded, initial_), encoded.data() + (at_start_ ? 0 : decoded.size()));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    const std::string_view name = kind_.parameters->codec;
    if (encoded.size() < kChecksumBytes) {
      throw Error(Code::corrupt, fmt::format("{} data is shorter than its checksum", name));
    }
    const std::size_t size = encoded.size() - kChecksumBytes;
    if (size > max_decoded_bytes) throw_decoded_too_large(name, max_decoded_bytes);
    const ByteView data = encoded.subspan(at_start_ ? kChecksumBytes : 0, size);
    const auto stored = load_little<std::uint32_t>(encoded.data() + (at_start_ ? 0 : size));
    const std::uint32_t computed = kind_.sum(data, initial_);
    if (stored != computed && (kind_.other_form == nullptr || stored != kind_.other_form(computed))) {
      throw Error(Code::corrupt, fmt::format("{} checksum is {:08x}, stored {:08x}", name, computed, stored));
    }
    decoded.resize_discard(size);
    if (size > 0) std::memcpy(decoded.data(), data.data(), size);
  }

 private:
  const Kind& kind_;
  bool at_start_;
  std::uint32_t initial_;
};

// ---- spellings

template <const Kind& kind>
std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  bool at_start = false;
  std::uint32_t initial = 0;
  for (const Parameter& row : kind.parameters->rows) {
    if (row.key == kInitial.key) {
      initial = static_cast<std::uint32_t>(row.integer(spec));
    } else {
      at_start = row.word(spec) == kStart;
    }
  }
  return std::make_unique<Checksum>(kind, at_start, initial);
}

CodecSpec from_hdf5(std::span<const unsigned>) {
  return {std::string(kFletcher32.codec), {}};
}
std::vector<unsigned> to_hdf5(const CodecSpec&, std::size_t, std::size_t) {
  return {};
}

// The registered codec has only one place.
std::string_view crc32c_name(const CodecSpec& spec) {
  return kAtEnd[0].word(spec) == kEnd ? "crc32c" : "numcodecs.crc32c";
}

// Bytes to hash before the data could not be written in JSON by numcodecs itself.
CodecSpec jenkins_from_json(const Json& config) {
  if (config.is_object() && config.contains("prefix") && !config.at("prefix").is_null()) {
    throw Error(Code::unsupported, "codec 'jenkins_lookup3' with a prefix is not supported");
  }
  return from_members(kJenkins, config);
}

Json jenkins_to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config = to_numcodecs(kJenkins, spec);
  config["prefix"] = nullptr;
  return config;
}

}  // namespace

constexpr CodecRow kFletcher32Row{
    .name = kFletcher32.codec,
    .summary = "checksum, as in HDF5 and numcodecs",
    .usage = kFletcher32.usage,
    .role = CodecRole::checksum,
    .bind = bind<kFletcher32Kind>,
    .parse = parse_by<kFletcher32>,
    .print = print_by<kFletcher32>,
    .hdf5_filter = 3,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = kFletcher32.zarr2_id,
    .from_zarr2 = from_json_by<kFletcher32>,
    .to_zarr2 = to_zarr2_by<kFletcher32>,
    .zarr3_name = "numcodecs.fletcher32",
    .from_zarr3 = from_json_by<kFletcher32>,
    .to_zarr3 = to_zarr3_by<kFletcher32>,
};

constexpr CodecRow kCrc32cRow{
    .name = kCrc32c.codec,
    .summary = "checksum, as in zarr 3",
    .usage = kCrc32c.usage,
    .role = CodecRole::checksum,
    .bind = bind<kCrc32cKind>,
    .parse = parse_by<kCrc32c>,
    .print = print_by<kCrc32c>,
    .zarr2_id = kCrc32c.zarr2_id,
    .from_zarr2 = from_json_by<kCrc32c>,
    .to_zarr2 = to_zarr2_by<kCrc32c>,
    .zarr3_name = "crc32c",
    .zarr3_alias = "numcodecs.crc32c",
    .zarr3_name_of = crc32c_name,
    .from_zarr3 = from_json_by<kCrc32c>,
    .to_zarr3 = to_zarr3_by<kCrc32c>,
};

constexpr CodecRow kCrc32Row{
    .name = kCrc32.codec,
    .summary = "checksum, as in numcodecs",
    .usage = kCrc32.usage,
    .role = CodecRole::checksum,
    .bind = bind<kCrc32Kind>,
    .parse = parse_by<kCrc32>,
    .print = print_by<kCrc32>,
    .zarr2_id = kCrc32.zarr2_id,
    .from_zarr2 = from_json_by<kCrc32>,
    .to_zarr2 = to_zarr2_by<kCrc32>,
    .zarr3_name = "numcodecs.crc32",
    .from_zarr3 = from_json_by<kCrc32>,
    .to_zarr3 = to_zarr3_by<kCrc32>,
};

constexpr CodecRow kAdler32Row{
    .name = kAdler32.codec,
    .summary = "checksum, as in numcodecs",
    .usage = kAdler32.usage,
    .role = CodecRole::checksum,
    .bind = bind<kAdler32Kind>,
    .parse = parse_by<kAdler32>,
    .print = print_by<kAdler32>,
    .zarr2_id = kAdler32.zarr2_id,
    .from_zarr2 = from_json_by<kAdler32>,
    .to_zarr2 = to_zarr2_by<kAdler32>,
    .zarr3_name = "numcodecs.adler32",
    .from_zarr3 = from_json_by<kAdler32>,
    .to_zarr3 = to_zarr3_by<kAdler32>,
};

constexpr CodecRow kJenkinsRow{
    .name = kJenkins.codec,
    .summary = "checksum, as in numcodecs",
    .usage = kJenkins.usage,
    .role = CodecRole::checksum,
    .bind = bind<kJenkinsKind>,
    .parse = parse_by<kJenkins>,
    .print = print_by<kJenkins>,
    .zarr2_id = kJenkins.zarr2_id,
    .from_zarr2 = jenkins_from_json,
    .to_zarr2 = jenkins_to_zarr2,
    .zarr3_name = "numcodecs.jenkins_lookup3",
    .from_zarr3 = jenkins_from_json,
    .to_zarr3 = to_zarr3_by<kJenkins>,
};

}  // namespace chunkwise
