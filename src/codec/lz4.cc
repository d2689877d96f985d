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
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

// The library's own rule for other numbers: the nearest.
constexpr Parameter kAcceleration[] = {
    {.key = "acceleration",
     .otherwise = 1,
     .asked = {1, 65537},
     .stored = {-2147483648LL, 2147483647},
     .clamped = true,
     .member = "acceleration"},
};
constexpr Parameters kLz4{"lz4", "lz4[:ACCELERATION]  1-65537, higher is faster and larger (default 1)", kAcceleration,
                          "lz4"};
constexpr Parameter kBlockBytes[] = {
    {.key = "block_bytes",
     .what = "block size",
     .otherwise = std::int64_t{1} << 30,
     .asked = {1, LZ4_MAX_INPUT_SIZE},
     .optional = true},
};
constexpr Parameters kHdf5Lz4{
    "hdf5-lz4", "hdf5-lz4[:BLOCK_BYTES]  lz4 as HDF5 filter 32004 stores it (default 1 GiB blocks)", kBlockBytes};

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

// ---- spellings

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Lz4>(static_cast<int>(kAcceleration[0].integer(spec)));
}

std::unique_ptr<Codec> bind_hdf5(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Hdf5Lz4>(static_cast<std::size_t>(kBlockBytes[0].integer(spec)));
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  CodecSpec spec{"hdf5-lz4", {}};
  // 0 is a filter's word for its default.
  if (!cd_values.empty() && cd_values[0] != 0) spec.params[kBlockBytes[0].key] = std::int64_t{cd_values[0]};
  kBlockBytes[0].integer(spec);
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  if (!spec.params.contains(kBlockBytes[0].key)) return {};
  return {static_cast<unsigned>(kBlockBytes[0].integer(spec))};
}

}  // namespace

constexpr CodecRow kLz4Row{
    .name = kLz4.codec,
    .summary = "LZ4 block with its size, as in numcodecs",
    .usage = kLz4.usage,
    .bind = bind,
    .parse = parse_by<kLz4>,
    .print = print_by<kLz4>,
    .zarr2_id = kLz4.zarr2_id,
    .from_zarr2 = from_json_by<kLz4>,
    .to_zarr2 = to_zarr2_by<kLz4>,
    .zarr3_name = "numcodecs.lz4",
    .from_zarr3 = from_json_by<kLz4>,
    .to_zarr3 = to_zarr3_by<kLz4>,
};

constexpr CodecRow kHdf5Lz4Row{
    .name = kHdf5Lz4.codec,
    .summary = "LZ4 blocks, as in HDF5 filter 32004",
    .usage = kHdf5Lz4.usage,
    .bind = bind_hdf5,
    .parse = parse_by<kHdf5Lz4>,
    .print = print_by<kHdf5Lz4>,
    .hdf5_filter = 32004,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
