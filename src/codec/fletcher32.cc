// Canonical "fletcher32": HDF5 filter 3, numcodecs "fletcher32", zarr 3 "numcodecs.fletcher32".
//
// Four bytes follow the data, least significant first: Fletcher's two sums modulo 65535 over the data as big-endian
// 16-bit words, an odd last byte being the high half of a word. Old HDF5 on little-endian machines wrote the two bytes
// of each half the other way round, and HDF5 still accepts that.
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

constexpr std::string_view kUsage = "fletcher32  checksum of 4 bytes, as in HDF5";
constexpr std::size_t kChecksumBytes = 4;

// Brings a sum below 2^32 into [0, 65535] without making 0 of 65535, as the stored form requires.
std::uint32_t fold(std::uint64_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t fletcher32(ByteView data) {
  // A block is short enough for its weighted sum to fit 32 bits, so that the loop vectorises.
  constexpr std::size_t kBlockWords = 256;
  static_assert(kBlockWords * (kBlockWords + 1) / 2 * 0xFFFF <= 0xFFFFFFFF);
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  const std::byte* at = data.data();
  std::size_t n_words = data.size() / 2;
  while (n_words > 0) {
    const std::size_t n = std::min(n_words, kBlockWords);
    std::uint32_t plain = 0;
    std::uint32_t weighted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      std::uint16_t stored = 0;
      std::memcpy(&stored, at + 2 * i, 2);
      const std::uint32_t word = static_cast<std::uint16_t>(stored << 8 | stored >> 8);
      plain += word;
      weighted += static_cast<std::uint32_t>(n - i) * word;
    }
    sum2 = fold(std::uint64_t{sum2} + std::uint64_t{sum1} * n + weighted);
    sum1 = fold(std::uint64_t{sum1} + plain);
    at += 2 * n;
    n_words -= n;
  }
  if (data.size() % 2 != 0) {
    sum1 = fold(sum1 + (static_cast<std::uint32_t>(*at) << 8));
    sum2 = fold(std::uint64_t{sum2} + sum1);
  }
  return sum2 << 16 | sum1;
}

std::uint32_t swap_in_halves(std::uint32_t sum) {
  return (sum & 0x00FF00FF) << 8 | (sum >> 8 & 0x00FF00FF);
}

class Fletcher32 final : public Codec {
 public:
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes + kChecksumBytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(decoded.size() + kChecksumBytes);
    if (!decoded.empty()) std::memcpy(encoded.data(), decoded.data(), decoded.size());
    store_little(fletcher32(decoded), encoded.data() + decoded.size());
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kChecksumBytes) throw Error(Code::corrupt, "fletcher32 data is shorter than its checksum");
    const ByteView data = encoded.first(encoded.size() - kChecksumBytes);
    if (data.size() > max_decoded_bytes) throw_decoded_too_large("fletcher32", max_decoded_bytes);
    const auto stored = load_little<std::uint32_t>(encoded.data() + data.size());
    const std::uint32_t computed = fletcher32(data);
    if (stored != computed && stored != swap_in_halves(computed)) {
      throw Error(Code::corrupt, fmt::format("fletcher32 checksum is {:08x}, stored {:08x}", computed, stored));
    }
    decoded.resize_discard(data.size());
    if (!data.empty()) std::memcpy(decoded.data(), data.data(), data.size());
  }
};

CodecSpec plain_spec() {
  return {"fletcher32", {}};
}

std::unique_ptr<Codec> bind(const CodecSpec&, std::size_t) {
  return std::make_unique<Fletcher32>();
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 0, kUsage);
  return plain_spec();
}

std::string print(const CodecSpec&) {
  return "fletcher32";
}
CodecSpec from_hdf5(std::span<const unsigned>) {
  return plain_spec();
}
std::vector<unsigned> to_hdf5(const CodecSpec&, std::size_t, std::size_t) {
  return {};
}
CodecSpec from_json(const Json&) {
  return plain_spec();
}
Json to_zarr2(const CodecSpec&, std::size_t) {
  return Json{{"id", "fletcher32"}};
}
Json to_zarr3(const CodecSpec&, std::size_t) {
  return Json::object();
}

}  // namespace

constexpr CodecRow kFletcher32Row{
    .name = "fletcher32",
    .alias = {},
    .summary = "checksum, as in HDF5 and numcodecs",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = nullptr,
    .parse = parse,
    .print = print,
    .hdf5_filter = 3,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = "fletcher32",
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.fletcher32",
    .zarr3_alias = {},
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
