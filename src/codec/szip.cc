// Canonical "szip": HDF5 filter 4. The number of decoded bytes as u32 little-endian, then a stream of CCSDS 121.0-B
// adaptive entropy coding over "pixels":
//   - pixels of 32 and 64 bits are cut into their bytes, plane by plane, and these are the samples
//   - each scanline is filled up to whole blocks: with its last sample if neighbours are subtracted (NN), else with
//   zeros
#include <libaec.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"
#include "codec/shuffle.h"

namespace chunkwise {
namespace {

constexpr const char* kMask = "mask";
constexpr const char* kBits = "bits_per_pixel";
constexpr const char* kScanline = "pixels_per_scanline";
// Bits of the mask.
constexpr std::int64_t kAllowK13 = 1;
constexpr std::int64_t kEntropyCoding = 4;
constexpr std::int64_t kLittleEndian = 8;
constexpr std::int64_t kBigEndian = 16;
constexpr std::int64_t kNearestNeighbour = 32;
constexpr std::int64_t kRaw = 128;
constexpr IntegerRange kMaskRange{0, 0xFFFFFFFFLL};
constexpr IntegerRange kBitsRange{1, 64};
constexpr std::int64_t kMaxBlocksPerScanline = 128;
constexpr std::size_t kHeaderBytes = 4;

// On the command line; in the parameters it is a bit of the mask.
constexpr const char* kMethods[] = {"nn", "ec"};
constexpr Parameter kMethod{.key = "method", .words = kMethods};
constexpr Parameter kBlock{.key = "pixels_per_block", .what = "number of pixels", .otherwise = 8, .asked = {2, 32}};
constexpr Parameter kRows[] = {kMethod, kBlock};
constexpr Parameters kSzip{"szip",
                           "szip[:nn|ec[:PIXELS]]  entropy coding of neighbours' differences (nn) or of the values "
                           "(ec), in blocks of PIXELS, an even number from 2 to 32 (default nn:8)",
                           kRows};

// As H5Dcreate computes it; 0 where the chunk is too small for even one block.
std::int64_t scanline_of(std::int64_t n_pixels, std::int64_t row_pixels, std::int64_t block) {
  if (n_pixels < block) return 0;
  const std::int64_t most = block * kMaxBlocksPerScanline;
  return std::min(most, row_pixels < block ? n_pixels : row_pixels);
}

struct Choice {
  bool nearest_neighbour = true;
  bool big_endian = false;
  std::size_t block = 8;
  unsigned bits = 8;
  std::size_t scanline = 0;  // 0: that of a chunk of one axis
};

class Szip final : public Codec {
 public:
  explicit Szip(const Choice& choice)
      : choice_(choice),
        in_planes_(choice.bits == 32 || choice.bits == 64),
        pixel_bytes_(choice.bits == 64  ? 8
                     : choice.bits > 16 ? 4
                     : choice.bits > 8  ? 2
                                        : 1),
        sample_bytes_(in_planes_ ? 1 : pixel_bytes_),
        sample_bits_(in_planes_ ? 8 : choice.bits),
        kernel_(best_shuffle_kernel()) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    // A block that does not shrink costs less than two bytes more than its samples, an interval less than eight.
    const Lines lines = lines_of(decoded_bytes);
    const std::size_t padded = lines.padded_samples();
    const std::size_t encoded = kHeaderBytes + padded * sample_bytes_ + 2 * (padded / choice_.block + 1) + 64;
    return std::max(encoded, decoded_bytes);
  }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    // The library's own tables and windows, which grow with an interval of at most 128 blocks.
    constexpr std::size_t kLibraryBytes = std::size_t{256} << 10;
    return decoded_bytes + lines_of(decoded_bytes).padded_samples() * sample_bytes_ + kLibraryBytes;
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (!takes(decoded)) {
      throw Error(Code::unsupported,
                  fmt::format("szip cannot take {} bytes as pixels of {} bits in blocks of {}", decoded.size(),
                              choice_.bits, choice_.block),
                  "choose larger chunks or another codec");
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    store_little(static_cast<std::uint32_t>(decoded.size()), encoded.data());
    if (decoded.empty()) return encoded.resize(kHeaderBytes);
    Bytes planes;
    Bytes padded;
    const ByteView samples = with_padding(in_planes(decoded, planes), lines_of(decoded.size()), padded);
    aec_stream stream = make_stream(decoded.size());
    stream.next_in = reinterpret_cast<const unsigned char*>(samples.data());
    stream.avail_in = samples.size();
    stream.next_out = reinterpret_cast<unsigned char*>(encoded.data() + kHeaderBytes);
    stream.avail_out = encoded.size() - kHeaderBytes;
    const int result = aec_buffer_encode(&stream);
    if (result == AEC_MEM_ERROR) throw Error(Code::budget, "no memory for an szip encoder");
    CHUNKWISE_CHECK(result == AEC_OK && stream.avail_in == 0);
    encoded.resize(kHeaderBytes + stream.total_out);
  }

  // The library leaves out what does not fit into as many bytes as there were.
  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    if (!takes(decoded)) return false;
    encode(decoded, encoded);
    return encoded.size() - kHeaderBytes <= decoded.size();
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kHeaderBytes) throw Error(Code::corrupt, "szip data ends before its size");
    const std::size_t size = load_little<std::uint32_t>(encoded.data());
    if (size > max_decoded_bytes) throw_decoded_too_large("szip", max_decoded_bytes);
    if (size % pixel_bytes_ != 0) {
      throw Error(Code::corrupt,
                  fmt::format("szip data claims {} bytes, no whole pixels of {} bits", size, choice_.bits));
    }
    decoded.resize_discard(size);
    if (size == 0) return;
    const Lines lines = lines_of(size);
    Bytes planes;
    Bytes padded;
    MutableByteView samples = decoded.span();
    if (in_planes_) {
      planes.resize(size);
      samples = planes.span();
    }
    MutableByteView from_stream = samples;
    if (lines.padding() > 0) {
      padded.resize(lines.padded_samples() * sample_bytes_);
      from_stream = padded.span();
    }
    run_decoder(encoded.subspan(kHeaderBytes), size, from_stream);
    if (lines.padding() > 0) {
      const std::size_t line_bytes = lines.samples * sample_bytes_;
      for (std::size_t i = 0; i < lines.n; ++i) {
        const std::size_t at = i * line_bytes;
        std::memcpy(samples.data() + at, padded.data() + i * lines.padded * sample_bytes_,
                    std::min(line_bytes, samples.size() - at));
      }
    }
    if (in_planes_) unshuffle_bytes(kernel_, pixel_bytes_, planes, decoded.span());
  }

 private:
  // Scanlines of a buffer; the last may be shorter, but not in the stream.
  struct Lines {
    std::size_t n = 0;
    std::size_t samples = 0;
    std::size_t padded = 0;
    std::size_t total = 0;  // samples there are

    std::size_t padding() const { return padded - samples; }
    std::size_t padded_samples() const { return padding() == 0 ? total : n * padded; }
  };

  bool takes(ByteView decoded) const {
    const std::size_t n_pixels = decoded.size() / pixel_bytes_;
    if (decoded.size() % pixel_bytes_ != 0 || decoded.size() > std::numeric_limits<std::uint32_t>::max()) return false;
    if (n_pixels > 0 && n_pixels < choice_.block) return false;
    return !has_loose_bits(decoded);
  }

  // Bits above those of a pixel would be lost.
  bool has_loose_bits(ByteView decoded) const {
    if (choice_.bits == 8 * pixel_bytes_) return false;
    const std::uint32_t loose = ~std::uint32_t{0} << choice_.bits;
    for (std::size_t i = 0; i < decoded.size(); i += pixel_bytes_) {
      std::uint32_t pixel = 0;
      for (std::size_t j = 0; j < pixel_bytes_; ++j) {
        const std::size_t place = choice_.big_endian ? pixel_bytes_ - 1 - j : j;
        pixel |= static_cast<std::uint32_t>(decoded[i + j]) << (8 * place);
      }
      if ((pixel & loose) != 0) return true;
    }
    return false;
  }

  std::size_t scanline(std::size_t decoded_bytes) const {
    if (choice_.scanline != 0) return choice_.scanline;
    const auto n_pixels = static_cast<std::int64_t>(decoded_bytes / pixel_bytes_);
    const auto block = static_cast<std::int64_t>(choice_.block);
    return static_cast<std::size_t>(std::max(scanline_of(n_pixels, n_pixels, block), block));
  }

  Lines lines_of(std::size_t decoded_bytes) const {
    Lines lines;
    lines.samples = scanline(decoded_bytes);
    lines.padded = (lines.samples + choice_.block - 1) / choice_.block * choice_.block;
    lines.total = decoded_bytes / sample_bytes_;
    lines.n = (lines.total + lines.samples - 1) / lines.samples;
    return lines;
  }

  aec_stream make_stream(std::size_t decoded_bytes) const {
    aec_stream stream{};
    stream.bits_per_sample = sample_bits_;
    stream.block_size = static_cast<unsigned>(choice_.block);
    stream.rsi = static_cast<unsigned>((scanline(decoded_bytes) + choice_.block - 1) / choice_.block);
    stream.flags = AEC_NOT_ENFORCE;
    if (choice_.big_endian) stream.flags |= AEC_DATA_MSB;
    if (choice_.nearest_neighbour) stream.flags |= AEC_DATA_PREPROCESS;
    return stream;
  }

  ByteView in_planes(ByteView decoded, Bytes& planes) const {
    if (!in_planes_) return decoded;
    planes.resize(decoded.size());
    shuffle_bytes(kernel_, pixel_bytes_, decoded, planes.span());
    return planes;
  }

  ByteView with_padding(ByteView samples, const Lines& lines, Bytes& padded) const {
    if (lines.padding() == 0) return samples;
    padded.resize(lines.padded_samples() * sample_bytes_);
    const std::size_t padded_bytes = lines.padded * sample_bytes_;
    std::byte* to = padded.data();
    while (!samples.empty()) {
      const ByteView line = samples.first(std::min(samples.size(), lines.samples * sample_bytes_));
      samples = samples.subspan(line.size());
      std::memcpy(to, line.data(), line.size());
      for (std::size_t at = line.size(); at < padded_bytes; ++at) {
        to[at] = choice_.nearest_neighbour ? to[at - sample_bytes_] : std::byte{0};
      }
      to += padded_bytes;
    }
    return padded;
  }

  void run_decoder(ByteView encoded, std::size_t decoded_bytes, MutableByteView samples) const {
    aec_stream stream = make_stream(decoded_bytes);
    stream.next_in = reinterpret_cast<const unsigned char*>(encoded.data());
    stream.avail_in = encoded.size();
    stream.next_out = reinterpret_cast<unsigned char*>(samples.data());
    stream.avail_out = samples.size();
    const int result = aec_buffer_decode(&stream);
    if (result == AEC_MEM_ERROR) throw Error(Code::budget, "no memory for an szip decoder");
    if (result != AEC_OK || stream.total_out != samples.size()) {
      throw Error(Code::corrupt, "szip data is damaged or ends early");
    }
  }

  Choice choice_;
  bool in_planes_;
  std::size_t pixel_bytes_;
  std::size_t sample_bytes_;
  unsigned sample_bits_;
  ShuffleKernel kernel_;
};

// ---- spellings

std::int64_t mask_of(const CodecSpec& spec) {
  const std::int64_t mask = spec.integer(kMask, kAllowK13 | kRaw | kNearestNeighbour);
  require_parameter(mask, kMaskRange, "szip", kMask);
  return mask;
}

std::int64_t block_of(const CodecSpec& spec) {
  const std::int64_t block = kBlock.integer(spec);
  if (block % 2 != 0)
    throw Error(Code::corrupt, fmt::format("codec 'szip': blocks of {} pixels, an odd number", block));
  return block;
}

std::int64_t bits_of(const CodecSpec& spec, std::size_t element_bytes) {
  if (const std::int64_t bits = spec.integer(kBits, 0); bits != 0) {
    require_parameter(bits, kBitsRange, "szip", kBits);
    if (bits <= 24 || bits == 32 || bits == 64) return bits;
    throw Error(Code::corrupt, fmt::format("codec 'szip': pixels of {} bits", bits));
  }
  if (element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8)
    return static_cast<std::int64_t>(8 * element_bytes);
  throw Error(Code::unsupported, fmt::format("szip cannot take elements of {} bytes", element_bytes));
}

// Known only for a chunk that the codec was told of.
std::int64_t known_scanline(const CodecSpec& spec) {
  const std::int64_t scanline = spec.integer(kScanline, 0);
  if (scanline == 0) return 0;
  const std::int64_t block = block_of(spec);
  require_parameter(scanline, {block, kMaxBlocksPerScanline * block}, "szip", kScanline);
  return scanline;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  Choice choice;
  const std::int64_t mask = mask_of(spec);
  choice.nearest_neighbour = (mask & kNearestNeighbour) != 0;
  choice.big_endian = (mask & kBigEndian) != 0;
  choice.block = static_cast<std::size_t>(block_of(spec));
  choice.bits = static_cast<unsigned>(bits_of(spec, element_bytes));
  choice.scanline = static_cast<std::size_t>(known_scanline(spec));
  return std::make_unique<Szip>(choice);
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  const std::int64_t block = block_of(spec);
  const std::int64_t n_pixels = checked_product(traits.chunk).value_or(0);
  const std::int64_t row = traits.chunk.rank() > 0 ? traits.chunk[traits.chunk.rank() - 1] : 1;
  const std::int64_t scanline = scanline_of(n_pixels, row, block);
  if (scanline == 0) {
    throw Error(Code::unsupported,
                fmt::format("szip with blocks of {} pixels cannot take a chunk of {} elements", block, n_pixels),
                "choose larger chunks with -c, or another codec with --codec");
  }
  CodecSpec fitted = spec;
  const std::int64_t order = traits.elements.byte_order == ByteOrder::big ? kBigEndian : kLittleEndian;
  fitted.params[kMask] = (mask_of(spec) & ~(kLittleEndian | kBigEndian)) | order;
  fitted.params[kBlock.key] = block;
  fitted.params[kBits] = bits_of(spec, traits.elements.bytes);
  fitted.params[kScanline] = scanline;
  return fitted;
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  const CodecSpec asked = parse_arguments(kSzip, arguments);
  const std::int64_t block = kBlock.integer(asked);
  if (block % 2 != 0) {
    throw Error(Code::usage, fmt::format("szip has no blocks of {} pixels", block),
                fmt::format("write {}", kSzip.usage));
  }
  const std::int64_t mask = kAllowK13 | kRaw | (kMethod.word(asked) == 0 ? kNearestNeighbour : kEntropyCoding);
  return {"szip", {{kMask, mask}, {kBlock.key, block}}};
}

std::string print(const CodecSpec& spec) {
  CodecSpec asked = spec;
  asked.params[kMethod.key] = kMethods[(mask_of(spec) & kNearestNeighbour) != 0 ? 0 : 1];
  return print_arguments(kSzip, asked);
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  if (cd_values.size() < 4) throw Error(Code::corrupt, "codec 'szip': the filter has too few parameters");
  const CodecSpec spec{"szip",
                       {{kMask, std::int64_t{cd_values[0]}},
                        {kBlock.key, std::int64_t{cd_values[1]}},
                        {kBits, std::int64_t{cd_values[2]}},
                        {kScanline, std::int64_t{cd_values[3]}}}};
  if (cd_values[2] == 0 || cd_values[3] == 0) throw Error(Code::corrupt, "codec 'szip': the filter has zero pixels");
  bind(spec, 1);
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t chunk_bytes) {
  const std::int64_t bits = bits_of(spec, element_bytes);
  std::int64_t scanline = known_scanline(spec);
  if (scanline == 0) {
    const std::int64_t n_pixels = 8 * static_cast<std::int64_t>(chunk_bytes) / bits;
    scanline = scanline_of(n_pixels, n_pixels, block_of(spec));
  }
  return {static_cast<unsigned>(mask_of(spec)), static_cast<unsigned>(block_of(spec)), static_cast<unsigned>(bits),
          static_cast<unsigned>(scanline)};
}

}  // namespace

constexpr CodecRow kSzipRow{
    .name = kSzip.codec,
    .summary = "szip (CCSDS adaptive entropy coding)",
    .usage = kSzip.usage,
    .bind = bind,
    .for_chunk = for_chunk,
    .parse = parse,
    .print = print,
    .hdf5_filter = 4,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
