// Canonical "zstd": HDF5 filter 32015, numcodecs and zarr 3 "zstd".
#include <zstd.h>
#include <zstd_errors.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"
#include "codec/zstd_context.h"

namespace chunkwise {
namespace {

constexpr int kMaxLevel = 22;
constexpr const char* kSwitch[] = {"unchecked", "checksum"};
// Files may name more than there are (numcodecs accepts any); the library takes its highest.
constexpr Parameter kLevel{.key = "level",
                           .otherwise = 3,
                           .asked = {-131072, kMaxLevel},
                           .stored = {-2147483648LL, 2147483647},
                           .clamped = true,
                           .member = "level",
                           .absent = 0};
constexpr Parameter kChecksum{.key = "checksum", .words = kSwitch, .optional = true};
constexpr Parameter kRows[] = {kLevel, kChecksum};
constexpr Parameters kZstd{
    "zstd", "zstd[:LEVEL[:checksum]]  level 1-22, 0 = the library's default, below 0 = faster (default 3)", kRows,
    "zstd"};

struct FreeEncoder {
  void operator()(ZSTD_CCtx* p) const { ZSTD_freeCCtx(p); }
};
struct FreeDecoder {
  void operator()(ZSTD_DCtx* p) const { ZSTD_freeDCtx(p); }
};

class Zstd final : public Codec {
 public:
  Zstd(int level, bool checksum) : level_(level), checksum_(checksum) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    // The library's own formula (ZSTD_compressBound answers with an error code above its limit), and a checksum.
    constexpr std::size_t kSmallBytes = std::size_t{128} << 10;
    constexpr std::size_t kChecksumBytes = 4;
    const std::size_t small = decoded_bytes < kSmallBytes ? (kSmallBytes - decoded_bytes) >> 11 : 0;
    return decoded_bytes + (decoded_bytes >> 8) + small + kChecksumBytes;
  }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    // Bounds what ZSTD_estimateCCtxSize tells for the parameters of each level: tables that grow with the level, but
    // not beyond 16 times the input, and a base of which the decoder has a tenth.
    constexpr std::size_t kBaseBytes = std::size_t{1} << 20;
    constexpr std::size_t kTableMiB[kMaxLevel + 1] = {1,  1,  1,  1,  2,  3,  3,  6,  6,   12,  24, 24,
                                                      48, 32, 48, 64, 33, 49, 49, 81, 161, 321, 649};
    const int level = std::clamp(level_ == 0 ? 3 : level_, 0, kMaxLevel);
    return kBaseBytes + std::min(kTableMiB[level] << 20, 16 * decoded_bytes + kBaseBytes);
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    ZSTD_CCtx* context = thread_zstd_encoder();
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level_);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum_ ? 1 : 0);
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    const std::size_t size = ZSTD_compress2(context, encoded.data(), encoded.size(), decoded.data(), decoded.size());
    if (ZSTD_isError(size) != 0) {
      throw Error(Code::budget, fmt::format("zstd level {} cannot encode {} bytes: {}", level_, decoded.size(),
                                            ZSTD_getErrorName(size)));
    }
    encoded.resize(size);
  }

  // The simple decoder takes any number of frames, with or without a stated size, and skippable ones; it needs no
  // window, because it sees its whole output.
  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.empty()) throw Error(Code::corrupt, "zstd data ends early");
    decoded.resize_discard(max_decoded_bytes);
    std::byte nowhere{};
    const std::size_t size = ZSTD_decompressDCtx(thread_zstd_decoder(), decoded.empty() ? &nowhere : decoded.data(),
                                                 decoded.size(), encoded.data(), encoded.size());
    if (ZSTD_isError(size) != 0) {
      if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) throw_decoded_too_large("zstd", max_decoded_bytes);
      throw Error(Code::corrupt, fmt::format("zstd data is damaged or ends early ({})", ZSTD_getErrorName(size)));
    }
    decoded.resize(size);
  }

 private:
  int level_;
  bool checksum_;
};

// ---- spellings

int level_of(const CodecSpec& spec) {
  return static_cast<int>(kLevel.integer(spec));
}

bool checksum_of(const CodecSpec& spec) {
  return kChecksum.word(spec) != 0;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Zstd>(level_of(spec), checksum_of(spec));
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  const std::int64_t level = cd_values.empty() ? kLevel.otherwise : static_cast<int>(cd_values[0]);
  return {"zstd", {{kLevel.key, level}}};
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  return {static_cast<unsigned>(level_of(spec))};
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec = from_members(kZstd, config);
  if (config_integer(config, kChecksum.key, 0, {0, 1}, "zstd") != 0)
    spec.params[kChecksum.key] = std::string(kSwitch[1]);
  return spec;
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config = to_numcodecs(kZstd, spec);
  // Older numcodecs do not know the member.
  if (checksum_of(spec)) config[kChecksum.key] = true;
  return config;
}

Json to_zarr3(const CodecSpec& spec, std::size_t) {
  Json config = to_members(kZstd, spec);
  config[kChecksum.key] = checksum_of(spec);
  return config;
}

}  // namespace

ZSTD_CCtx_s* thread_zstd_encoder() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeEncoder> context(ZSTD_createCCtx());
  if (!context) throw Error(Code::budget, "no memory for a zstd encoder");
  return context.get();
}

ZSTD_DCtx_s* thread_zstd_decoder() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecoder> context(ZSTD_createDCtx());
  if (!context) throw Error(Code::budget, "no memory for a zstd decoder");
  return context.get();
}

constexpr CodecRow kZstdRow{
    .name = kZstd.codec,
    .summary = "Zstandard",
    .usage = kZstd.usage,
    .bind = bind,
    .parse = parse_by<kZstd>,
    .print = print_by<kZstd>,
    .hdf5_filter = 32015,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = kZstd.zarr2_id,
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "zstd",
    .zarr3_alias = "numcodecs.zstd",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
