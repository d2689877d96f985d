// Two byte forms around raw LZ4 blocks:
// "lz4" (numcodecs, in zarr):  size:u32 little-endian, block
// "hdf5-lz4" (filter 32004):   total:u64 big-endian, block size:u32 big-endian, then per block
//                              length:u32 big-endian, data; a length equal to the block's size marks it as not
//                              compressed
#include <lz4.h>

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

constexpr std::string_view kUsage = "lz4[:ACCELERATION]  1-65537, higher is faster and larger (default 1)";
constexpr std::string_view kHdf5Usage =
    "hdf5-lz4[:BLOCK_BYTES]  lz4 as HDF5 filter 32004 stores it (default 1 GiB blocks)";
constexpr const char* kAcceleration = "acceleration";
constexpr const char* kBlockBytes = "block_bytes";
constexpr IntegerRange kAccelerationRange{1, 65537};
constexpr IntegerRange kFileAccelerationRange{-2147483648LL, 2147483647};
constexpr std::int64_t kDefaultBlockBytes = std::int64_t{1} << 30;
constexpr IntegerRange kBlockRange{1, LZ4_MAX_INPUT_SIZE};

// LZ4_compressBound, for sizes beyond its own limit too.
std::size_t block_bound(std::size_t decoded_bytes) {
  return decoded_bytes + decoded_bytes / 255 + 16;
}

char* chars(std::byte* bytes) {
  return reinterpret_cast<char*>(bytes);
}
const char* chars(const std::byte* bytes) {
  return reinterpret_cast<const char*>(bytes);
}

// `encoded` has room for block_bound.
std::size_t encode_block(ByteView decoded, std::byte* encoded, int acceleration) {
  const int size = LZ4_compress_fast(chars(decoded.data()), chars(encoded), static_cast<int>(decoded.size()),
                                     static_cast<int>(block_bound(decoded.size())), acceleration);
  CHUNKWISE_CHECK(size > 0);
  return static_cast<std::size_t>(size);
}

// Throws unless the block decodes to exactly `decoded.size()` bytes.
void decode_block(ByteView encoded, MutableByteView decoded) {
  int size = -1;
  if (encoded.size() <= static_cast<std::size_t>(LZ4_COMPRESSBOUND(LZ4_MAX_INPUT_SIZE))) {
    std::byte nowhere{};
    size = LZ4_decompress_safe(chars(encoded.data()), chars(decoded.empty() ? &nowhere : decoded.data()),
                               static_cast<int>(encoded.size()), static_cast<int>(decoded.size()));
  }
  if (size < 0 || static_cast<std::size_t>(size) != decoded.size()) {
    throw Error(Code::corrupt, "lz4 block is damaged or ends early");
  }
}

class Lz4 final : public Codec {
 public:
  explicit Lz4(int acceleration) : acceleration_(acceleration) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    return kHeaderBytes + block_bound(decoded_bytes);
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() > LZ4_MAX_INPUT_SIZE) {
      throw Error(Code::unsupported,
                  fmt::format("lz4 cannot hold a chunk of {} bytes, at most {}", decoded.size(), LZ4_MAX_INPUT_SIZE),
                  "choose smaller chunks or another codec, such as zstd");
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    store_little(static_cast<std::uint32_t>(decoded.size()), encoded.data());
    encoded.resize(kHeaderBytes + encode_block(decoded, encoded.data() + kHeaderBytes, acceleration_));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kHeaderBytes) throw Error(Code::corrupt, "lz4 data ends before its size");
    const std::size_t size = load_little<std::uint32_t>(encoded.data());
    if (size > max_decoded_bytes) throw_decoded_too_large("lz4", max_decoded_bytes);
    if (size > LZ4_MAX_INPUT_SIZE) throw Error(Code::corrupt, fmt::format("lz4 data claims impossible {} bytes", size));
    decoded.resize_discard(size);
    decode_block(encoded.subspan(kHeaderBytes), decoded.span());
  }

 private:
  static constexpr std::size_t kHeaderBytes = 4;
  int acceleration_;
};

class Hdf5Lz4 final : public Codec {
 public:
  explicit Hdf5Lz4(std::size_t block_bytes) : block_bytes_(block_bytes) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    // A block that does not shrink is stored as it is; the last one needs room to find that out.
    const std::size_t n_blocks = decoded_bytes / block_bytes_ + 1;
    return kHeaderBytes + n_blocks * kLengthBytes + block_bound(std::min(decoded_bytes, block_bytes_)) + decoded_bytes;
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    const std::size_t block_bytes = std::min(block_bytes_, decoded.size());
    store_big(static_cast<std::uint64_t>(decoded.size()), encoded.data());
    store_big(static_cast<std::uint32_t>(block_bytes), encoded.data() + 8);
    std::byte* to = encoded.data() + kHeaderBytes;
    while (!decoded.empty()) {
      const ByteView block = decoded.first(std::min(block_bytes, decoded.size()));
      decoded = decoded.subspan(block.size());
      std::size_t size = encode_block(block, to + kLengthBytes, 1);
      if (size >= block.size()) {
        size = block.size();
        std::memcpy(to + kLengthBytes, block.data(), size);
      }
      store_big(static_cast<std::uint32_t>(size), to);
      to += kLengthBytes + size;
    }
    encoded.resize(static_cast<std::size_t>(to - encoded.data()));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kHeaderBytes) throw Error(Code::corrupt, "hdf5-lz4 data ends inside its header");
    const std::uint64_t total = load_big<std::uint64_t>(encoded.data());
    const std::size_t block_bytes = load_big<std::uint32_t>(encoded.data() + 8);
    if (total > max_decoded_bytes) throw_decoded_too_large("hdf5-lz4", max_decoded_bytes);
    if (total > 0 && (block_bytes == 0 || block_bytes > LZ4_MAX_INPUT_SIZE)) {
      throw Error(Code::corrupt, fmt::format("hdf5-lz4 data claims impossible blocks of {} bytes", block_bytes));
    }
    decoded.resize_discard(total);
    MutableByteView rest = decoded.span();
    encoded = encoded.subspan(kHeaderBytes);
    while (!rest.empty()) {
      if (encoded.size() < kLengthBytes) throw Error(Code::corrupt, "hdf5-lz4 data ends early");
      const std::size_t size = load_big<std::uint32_t>(encoded.data());
      encoded = encoded.subspan(kLengthBytes);
      if (encoded.size() < size) throw Error(Code::corrupt, "hdf5-lz4 data ends early");
      const MutableByteView block = rest.first(std::min(block_bytes, rest.size()));
      if (size == block.size()) {
        std::memcpy(block.data(), encoded.data(), size);
      } else {
        decode_block(encoded.first(size), block);
      }
      encoded = encoded.subspan(size);
      rest = rest.subspan(block.size());
    }
  }

 private:
  static constexpr std::size_t kHeaderBytes = 12;
  static constexpr std::size_t kLengthBytes = 4;
  std::size_t block_bytes_;
};

// ---- spellings of "lz4"

std::int64_t acceleration_of(const CodecSpec& spec) {
  const std::int64_t value = spec.integer(kAcceleration, 1);
  // The library's own rule for what files may contain.
  return std::clamp(value, kAccelerationRange.least, kAccelerationRange.most);
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Lz4>(static_cast<int>(acceleration_of(spec)));
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 1, kUsage);
  return {"lz4", {{kAcceleration, argument_integer(arguments, 0, "acceleration", 1, kAccelerationRange, kUsage)}}};
}

std::string print(const CodecSpec& spec) {
  return fmt::format("lz4:{}", acceleration_of(spec));
}

CodecSpec from_numcodecs(const Json& config) {
  return {"lz4", {{kAcceleration, config_integer(config, kAcceleration, 1, kFileAccelerationRange, "lz4")}}};
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  return Json{{"id", "lz4"}, {kAcceleration, acceleration_of(spec)}};
}

Json to_zarr3(const CodecSpec& spec, std::size_t) {
  return Json{{kAcceleration, acceleration_of(spec)}};
}

// ---- spellings of "hdf5-lz4"

std::int64_t block_bytes_of(const CodecSpec& spec) {
  const std::int64_t value = spec.integer(kBlockBytes, kDefaultBlockBytes);
  if (value == 0) return kDefaultBlockBytes;  // a filter's word for its default
  require_parameter(value, kBlockRange, "hdf5-lz4", kBlockBytes);
  return value;
}

std::unique_ptr<Codec> bind_hdf5(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Hdf5Lz4>(static_cast<std::size_t>(block_bytes_of(spec)));
}

CodecSpec parse_hdf5(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 1, kHdf5Usage);
  CodecSpec spec{"hdf5-lz4", {}};
  if (!arguments.empty()) {
    spec.params[kBlockBytes] =
        argument_integer(arguments, 0, "block size", kDefaultBlockBytes, kBlockRange, kHdf5Usage);
  }
  return spec;
}

std::string print_hdf5(const CodecSpec& spec) {
  const std::int64_t block_bytes = block_bytes_of(spec);
  return block_bytes == kDefaultBlockBytes ? "hdf5-lz4" : fmt::format("hdf5-lz4:{}", block_bytes);
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  CodecSpec spec{"hdf5-lz4", {}};
  if (!cd_values.empty()) {
    spec.params[kBlockBytes] = std::int64_t{cd_values[0]};
    block_bytes_of(spec);
  }
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  if (!spec.params.contains(kBlockBytes)) return {};
  block_bytes_of(spec);
  return {static_cast<unsigned>(spec.integer(kBlockBytes, 0))};
}

}  // namespace

constexpr CodecRow kLz4Row{
    .name = "lz4",
    .alias = {},
    .summary = "LZ4 block with its size, as in numcodecs",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = nullptr,
    .parse = parse,
    .print = print,
    .hdf5_filter = 0,
    .from_hdf5 = nullptr,
    .to_hdf5 = nullptr,
    .zarr2_id = "lz4",
    .from_zarr2 = from_numcodecs,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.lz4",
    .zarr3_alias = {},
    .from_zarr3 = from_numcodecs,
    .to_zarr3 = to_zarr3,
};

constexpr CodecRow kHdf5Lz4Row{
    .name = "hdf5-lz4",
    .alias = {},
    .summary = "LZ4 blocks, as in HDF5 filter 32004",
    .usage = kHdf5Usage,
    .bind = bind_hdf5,
    .for_chunk = nullptr,
    .parse = parse_hdf5,
    .print = print_hdf5,
    .hdf5_filter = 32004,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = {},
    .from_zarr2 = nullptr,
    .to_zarr2 = nullptr,
    .zarr3_name = {},
    .zarr3_alias = {},
    .from_zarr3 = nullptr,
    .to_zarr3 = nullptr,
};

}  // namespace chunkwise
