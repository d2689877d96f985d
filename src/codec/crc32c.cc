// Canonical "crc32c": zarr 3 and numcodecs. Four bytes, least significant first, at the end (or, if numcodecs was told
// so, at the start): CRC-32C (Castagnoli) of the data.
#include <isa-l/crc.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"
#include "codec/endian.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr std::string_view kUsage = "crc32c  checksum of 4 bytes, as in zarr 3";
constexpr const char* kLocation = "location";
constexpr const char* kStart = "start";
constexpr const char* kEnd = "end";
constexpr std::size_t kChecksumBytes = 4;

std::uint32_t crc32c(ByteView data) {
  // The library's length is an int.
  constexpr std::size_t kPieceBytes = std::size_t{1} << 30;
  std::uint32_t crc = 0xFFFFFFFF;
  while (!data.empty()) {
    const ByteView piece = data.first(std::min(data.size(), kPieceBytes));
    // It takes a mutable pointer and only reads.
    auto* bytes = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    crc = crc32_iscsi(bytes, static_cast<int>(piece.size()), crc);
    data = data.subspan(piece.size());
  }
  return ~crc;
}

class Crc32c final : public Codec {
 public:
  explicit Crc32c(bool at_start) : at_start_(at_start) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes + kChecksumBytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(decoded.size() + kChecksumBytes);
    if (!decoded.empty()) {
      std::memcpy(encoded.data() + (at_start_ ? kChecksumBytes : 0), decoded.data(), decoded.size());
    }
    store_little(crc32c(decoded), encoded.data() + (at_start_ ? 0 : decoded.size()));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kChecksumBytes) throw Error(Code::corrupt, "crc32c data is shorter than its checksum");
    const std::size_t size = encoded.size() - kChecksumBytes;
    if (size > max_decoded_bytes) throw_decoded_too_large("crc32c", max_decoded_bytes);
    const ByteView data = encoded.subspan(at_start_ ? kChecksumBytes : 0, size);
    const auto stored = load_little<std::uint32_t>(encoded.data() + (at_start_ ? 0 : size));
    const std::uint32_t computed = crc32c(data);
    if (stored != computed) {
      throw Error(Code::corrupt, fmt::format("crc32c checksum is {:08x}, stored {:08x}", computed, stored));
    }
    decoded.resize_discard(size);
    if (size > 0) std::memcpy(decoded.data(), data.data(), size);
  }

 private:
  bool at_start_;
};

bool at_start(const CodecSpec& spec) {
  const std::string location = spec.text(kLocation, kEnd);
  if (location == kStart) return true;
  if (location == kEnd) return false;
  throw Error(Code::corrupt, fmt::format("codec 'crc32c': location must be start or end, not '{}'", location));
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Crc32c>(at_start(spec));
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 0, kUsage);
  return {"crc32c", {}};
}

std::string print(const CodecSpec&) {
  return "crc32c";
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec{"crc32c", {}};
  const std::string location = config_text(config, kLocation, kEnd, "crc32c");
  if (location != kEnd) spec.params[kLocation] = location;
  at_start(spec);
  return spec;
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config{{"id", "crc32c"}};
  if (at_start(spec)) config[kLocation] = kStart;
  return config;
}

Json to_zarr3(const CodecSpec& spec, std::size_t) {
  if (at_start(spec)) {
    throw Error(Code::unsupported, "zarr 3 has no crc32c at the start of a chunk", "choose the codec crc32c anew");
  }
  return Json::object();
}

}  // namespace

constexpr CodecRow kCrc32cRow{
    .name = "crc32c",
    .alias = {},
    .summary = "checksum, as in zarr 3",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = nullptr,
    .parse = parse,
    .print = print,
    .hdf5_filter = 0,
    .from_hdf5 = nullptr,
    .to_hdf5 = nullptr,
    .zarr2_id = "crc32c",
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "crc32c",
    .zarr3_alias = "numcodecs.crc32c",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
