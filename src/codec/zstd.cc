// Canonical "zstd": HDF5 filter 32015, numcodecs and zarr 3 "zstd".
#include <zstd.h>
#include <zstd_errors.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"
#include "codec/rows.h"
#include "codec/zstd_context.h"

namespace chunkwise {
namespace {

constexpr std::string_view kUsage =
    "zstd[:LEVEL[:checksum]]  level 1-22, 0 = the library's default, below 0 = faster (default 3)";
constexpr const char* kLevel = "level";
constexpr const char* kChecksum = "checksum";
constexpr int kMaxLevel = 22;
constexpr IntegerRange kArgumentRange{-131072, kMaxLevel};
// Files may name more than there are (numcodecs accepts any); the library takes its highest.
constexpr IntegerRange kFileRange{-131072, 1'000'000};
constexpr IntegerRange kSwitchRange{0, 1};

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
  const std::int64_t level = spec.integer(kLevel, 3);
  require_parameter(level, kFileRange, "zstd", kLevel);
  return static_cast<int>(std::min<std::int64_t>(level, kMaxLevel));
}

bool checksum_of(const CodecSpec& spec) {
  return spec.integer(kChecksum, 0) != 0;
}

CodecSpec spec_of(std::int64_t level, bool checksum) {
  CodecSpec spec{"zstd", {{kLevel, level}}};
  if (checksum) spec.params[kChecksum] = std::int64_t{1};
  return spec;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Zstd>(level_of(spec), checksum_of(spec));
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 2, kUsage);
  if (arguments.size() == 2 && arguments[1] != kChecksum) {
    throw Error(Code::usage, fmt::format("'{}' is not 'checksum'", arguments[1]), fmt::format("write {}", kUsage));
  }
  return spec_of(argument_integer(arguments, 0, "level", 3, kArgumentRange, kUsage), arguments.size() == 2);
}

std::string print(const CodecSpec& spec) {
  return fmt::format("zstd:{}{}", level_of(spec), checksum_of(spec) ? ":checksum" : "");
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  return spec_of(cd_values.empty() ? 3 : static_cast<int>(cd_values[0]), false);
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  return {static_cast<unsigned>(level_of(spec))};
}

CodecSpec from_json(const Json& config) {
  return spec_of(config_integer(config, kLevel, 0, kFileRange, "zstd"),
                 config_integer(config, kChecksum, 0, kSwitchRange, "zstd") != 0);
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config{{"id", "zstd"}, {kLevel, level_of(spec)}};
  // Older numcodecs do not know the member.
  if (checksum_of(spec)) config[kChecksum] = true;
  return config;
}

Json to_zarr3(const CodecSpec& spec, std::size_t) {
  return Json{{kLevel, level_of(spec)}, {kChecksum, checksum_of(spec)}};
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
    .name = "zstd",
    .alias = {},
    .summary = "Zstandard",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = nullptr,
    .parse = parse,
    .print = print,
    .hdf5_filter = 32015,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = "zstd",
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "zstd",
    .zarr3_alias = "numcodecs.zstd",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
