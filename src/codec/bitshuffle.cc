// Canonical "bitshuffle": HDF5 filter 32008. Elements are taken in blocks of a multiple of 8, whose bits are transposed
// (codec/bit_transpose.h) and then, if so asked, compressed each on its own. Up to 7 elements at the end stay as they
// are.
//   not compressed:  the blocks, the rest
//   compressed:      decoded bytes:u64 big-endian, block bytes:u32 big-endian, per block length:u32 big-endian and
//   data,
//                    the rest
#include <lz4.h>
#include <zstd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/error.h"
#include "base/json.h"
#include "codec/bit_transpose.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"
#include "codec/zstd_context.h"

namespace chunkwise {
namespace {

// Of the filter that wrote the parameters; it changes nothing.
constexpr const char* kMinorVersion = "minor_version";
constexpr std::int64_t kOurMinorVersion = 4;
constexpr std::size_t kMultiple = 8;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kLengthBytes = 4;
constexpr IntegerRange kElementRange{1, 1 << 30};
constexpr std::int64_t kMostBlockBytes = LZ4_MAX_INPUT_SIZE;

enum class Inside { none, lz4, zstd };
constexpr const char* kInsideNames[] = {"none", "lz4", "zstd"};
// As HDF5 parameters have them.
constexpr unsigned kInsideCodes[] = {0, 2, 3};

constexpr const char* kElementBytes = "element_bytes";
constexpr const char* kBlockElements = "block_elements";
constexpr Parameter kCname{
    .key = "cname", .what = "compressor", .words = kInsideNames, .otherwise = static_cast<int>(Inside::lz4)};
// zstd itself takes a level above its highest for that.
constexpr Parameter kLevel{
    .key = "level", .otherwise = 3, .asked = {1, 22}, .stored = {0, 0xFFFFFFFFLL}, .clamped = true};
constexpr Parameter kRows[] = {kCname, kLevel};
// The level only of zstd.
constexpr Parameters kWithLevel{"bitshuffle",
                                "bitshuffle[:none|lz4|zstd[:LEVEL]]  bit planes of the elements, compressed block by "
                                "block (default lz4; zstd level 1-22, default 3)",
                                kRows};
constexpr Parameters kWithoutLevel{kWithLevel.codec, kWithLevel.usage, {&kCname, 1}};

// What the filter does where it is not told: about 8 KiB.
std::size_t default_block_elements(std::size_t element_bytes) {
  constexpr std::size_t kTargetBytes = 8192;
  constexpr std::size_t kLeastElements = 128;
  return std::max(kTargetBytes / element_bytes / kMultiple * kMultiple, kLeastElements);
}

struct Choice {
  Inside inside = Inside::lz4;
  int level = 3;
  std::size_t element_bytes = 1;
  std::size_t block_bytes = 0;
};

std::size_t block_bound(Inside inside, std::size_t n_bytes) {
  switch (inside) {
    case Inside::lz4:
      return n_bytes + n_bytes / 255 + 16;
    case Inside::zstd:
      return n_bytes + (n_bytes >> 8) + 64;
    case Inside::none:
      break;
  }
  return n_bytes;
}

std::size_t compress_block(const Choice& choice, ByteView block, std::byte* to) {
  const std::size_t room = block_bound(choice.inside, block.size());
  if (choice.inside == Inside::lz4) {
    const int size = LZ4_compress_default(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(to),
                                          static_cast<int>(block.size()), static_cast<int>(room));
    CHUNKWISE_CHECK(size > 0);
    return static_cast<std::size_t>(size);
  }
  const std::size_t size = ZSTD_compress2(thread_zstd_encoder(), to, room, block.data(), block.size());
  if (ZSTD_isError(size) != 0) {
    throw Error(Code::budget,
                fmt::format("bitshuffle cannot encode a block of {} bytes: {}", block.size(), ZSTD_getErrorName(size)));
  }
  return size;
}

void decompress_block(Inside inside, ByteView encoded, MutableByteView block) {
  bool good = false;
  if (inside == Inside::lz4) {
    const int size =
        encoded.size() <= LZ4_COMPRESSBOUND(LZ4_MAX_INPUT_SIZE)
            ? LZ4_decompress_safe(reinterpret_cast<const char*>(encoded.data()), reinterpret_cast<char*>(block.data()),
                                  static_cast<int>(encoded.size()), static_cast<int>(block.size()))
            : -1;
    good = size >= 0 && static_cast<std::size_t>(size) == block.size();
  } else {
    const std::size_t size =
        ZSTD_decompressDCtx(thread_zstd_decoder(), block.data(), block.size(), encoded.data(), encoded.size());
    good = ZSTD_isError(size) == 0 && size == block.size();
  }
  if (!good) throw Error(Code::corrupt, "bitshuffle block is damaged or ends early");
}

// Two blocks: one transposed, one on the way there.
struct Work {
  Bytes rows;
  Bytes between;
  void resize(std::size_t n_bytes) {
    rows.resize_discard(n_bytes);
    between.resize_discard(n_bytes);
  }
};

class Bitshuffle final : public Codec {
 public:
  explicit Bitshuffle(const Choice& choice) : choice_(choice), kernel_(best_shuffle_kernel()) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    if (choice_.inside == Inside::none) return decoded_bytes;
    const std::size_t n_full = decoded_bytes / choice_.block_bytes;
    const std::size_t last = decoded_bytes % choice_.block_bytes;
    return kHeaderBytes + n_full * (kLengthBytes + block_bound(choice_.inside, choice_.block_bytes)) + kLengthBytes +
           block_bound(choice_.inside, last);
  }
  bool fixed_size() const override { return choice_.inside == Inside::none; }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    const std::size_t block = std::min(choice_.block_bytes, decoded_bytes);
    // zstd's tables are no larger than such small input asks for.
    constexpr std::size_t kZstdBytes = std::size_t{1} << 20;
    return 2 * block + (choice_.inside == Inside::zstd ? kZstdBytes + 16 * block : 16384);
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (!encode_or_skip(decoded, encoded)) {
      throw Error(Code::unsupported, fmt::format("bitshuffle cannot take {} bytes, which are no whole elements of {}",
                                                 decoded.size(), choice_.element_bytes));
    }
  }

  // The filter of other programs does not take a part of an element.
  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() % choice_.element_bytes != 0) return false;
    const bool compressed = choice_.inside != Inside::none;
    if (choice_.inside == Inside::zstd) {
      ZSTD_CCtx* const context = thread_zstd_encoder();
      ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
      ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, choice_.level);
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    std::byte* to = encoded.data();
    if (compressed) {
      store_big(static_cast<std::uint64_t>(decoded.size()), to);
      store_big(static_cast<std::uint32_t>(choice_.block_bytes), to + 8);
      to += kHeaderBytes;
    }
    Work work;
    while (const std::size_t size = next_block(decoded.size(), choice_.block_bytes)) {
      work.resize(size);
      MutableByteView rows = compressed ? work.rows.span() : MutableByteView(to, size);
      transpose_bits(kernel_, choice_.element_bytes, decoded.first(size), rows, work.between.span());
      decoded = decoded.subspan(size);
      if (!compressed) {
        to += size;
        continue;
      }
      const std::size_t stored = compress_block(choice_, rows, to + kLengthBytes);
      store_big(static_cast<std::uint32_t>(stored), to);
      to += kLengthBytes + stored;
    }
    if (!decoded.empty()) std::memcpy(to, decoded.data(), decoded.size());
    to += decoded.size();
    encoded.resize(static_cast<std::size_t>(to - encoded.data()));
    return true;
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    std::size_t size = encoded.size();
    std::size_t block_bytes = choice_.block_bytes;
    const bool compressed = choice_.inside != Inside::none;
    if (compressed) {
      if (size < kHeaderBytes) throw Error(Code::corrupt, "bitshuffle data ends inside its header");
      const std::uint64_t claimed = load_big<std::uint64_t>(encoded.data());
      block_bytes = load_big<std::uint32_t>(encoded.data() + 8);
      if (claimed > max_decoded_bytes) throw_decoded_too_large("bitshuffle", max_decoded_bytes);
      size = static_cast<std::size_t>(claimed);
      encoded = encoded.subspan(kHeaderBytes);
      if (block_bytes == 0 || block_bytes > kMostBlockBytes || block_bytes % (kMultiple * choice_.element_bytes) != 0) {
        throw Error(Code::corrupt, fmt::format("bitshuffle data claims impossible blocks of {} bytes", block_bytes));
      }
    }
    if (size > max_decoded_bytes) throw_decoded_too_large("bitshuffle", max_decoded_bytes);
    if (size % choice_.element_bytes != 0) {
      throw Error(Code::corrupt,
                  fmt::format("bitshuffle data has {} bytes, no whole elements of {}", size, choice_.element_bytes));
    }
    decoded.resize_discard(size);
    MutableByteView rest = decoded.span();
    Work work;
    while (const std::size_t n_bytes = next_block(rest.size(), block_bytes)) {
      work.resize(n_bytes);
      ByteView rows;
      if (compressed) {
        if (encoded.size() < kLengthBytes) throw_early_end();
        const std::size_t stored = load_big<std::uint32_t>(encoded.data());
        encoded = encoded.subspan(kLengthBytes);
        if (stored > encoded.size()) throw_early_end();
        decompress_block(choice_.inside, encoded.first(stored), work.rows.span());
        encoded = encoded.subspan(stored);
        rows = work.rows.view();
      } else {
        rows = encoded.first(n_bytes);
        encoded = encoded.subspan(n_bytes);
      }
      untranspose_bits(kernel_, choice_.element_bytes, rows, rest.first(n_bytes), work.between.span());
      rest = rest.subspan(n_bytes);
    }
    if (encoded.size() < rest.size()) throw_early_end();
    if (!rest.empty()) std::memcpy(rest.data(), encoded.data(), rest.size());
  }

 private:
  // Of what is left: a full block, then one of all the multiples of 8 elements there are, then none.
  std::size_t next_block(std::size_t left_bytes, std::size_t block_bytes) const {
    const std::size_t step = kMultiple * choice_.element_bytes;
    return left_bytes >= block_bytes ? block_bytes : left_bytes / step * step;
  }

  [[noreturn]] static void throw_early_end() { throw Error(Code::corrupt, "bitshuffle data ends early"); }

  Choice choice_;
  ShuffleKernel kernel_;
};

// ---- spellings

Inside inside_of(const CodecSpec& spec) {
  return static_cast<Inside>(kCname.word(spec));
}

const Parameters& arguments_of(const CodecSpec& spec) {
  return inside_of(spec) == Inside::zstd ? kWithLevel : kWithoutLevel;
}

std::int64_t element_bytes_of(const CodecSpec& spec, std::size_t element_bytes) {
  const std::int64_t value = spec.integer(kElementBytes, static_cast<std::int64_t>(element_bytes));
  require_parameter(value, kElementRange, "bitshuffle", kElementBytes);
  return value;
}

// In elements, 0 for the default.
std::int64_t block_elements_of(const CodecSpec& spec, std::int64_t element_bytes) {
  const std::int64_t value = spec.integer(kBlockElements, 0);
  require_parameter(value, {0, kMostBlockBytes / element_bytes}, "bitshuffle", kBlockElements);
  if (value % static_cast<std::int64_t>(kMultiple) != 0) {
    throw Error(Code::corrupt, fmt::format("codec 'bitshuffle': blocks of {} elements, no multiple of 8", value));
  }
  return value;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  Choice choice;
  choice.inside = inside_of(spec);
  choice.level = static_cast<int>(kLevel.integer(spec));
  const std::int64_t size = element_bytes_of(spec, element_bytes);
  choice.element_bytes = static_cast<std::size_t>(size);
  const auto block = static_cast<std::size_t>(block_elements_of(spec, size));
  choice.block_bytes = choice.element_bytes * (block != 0 ? block : default_block_elements(choice.element_bytes));
  if (choice.block_bytes > static_cast<std::size_t>(kMostBlockBytes)) {
    throw Error(Code::unsupported, fmt::format("bitshuffle cannot take elements of {} bytes", size));
  }
  return std::make_unique<Bitshuffle>(choice);
}

// The element's size is that of the array; what a file tells is kept.
CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  CodecSpec fitted = spec;
  fitted.params[kElementBytes] = element_bytes_of(spec, traits.elements.bytes);
  return fitted;
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  return parse_arguments(
      arguments_of(parse_arguments(kWithoutLevel, arguments.first(std::min<std::size_t>(arguments.size(), 1)))),
      arguments);
}

std::string print(const CodecSpec& spec) {
  return print_arguments(arguments_of(spec), spec);
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  // Version twice, element bytes, then the user's choice, of which a tail may be missing.
  const auto value = [&](std::size_t i, unsigned otherwise) { return i < cd_values.size() ? cd_values[i] : otherwise; };
  const auto* const code = std::find(std::begin(kInsideCodes), std::end(kInsideCodes), value(4, 0));
  if (code == std::end(kInsideCodes)) {
    throw Error(Code::corrupt, fmt::format("codec 'bitshuffle': there is no compressor {}", value(4, 0)));
  }
  CodecSpec spec{"bitshuffle", {{kCname.key, std::string(kInsideNames[code - std::begin(kInsideCodes)])}}};
  if (value(2, 0) != 0) {
    spec.params[kElementBytes] = std::int64_t{value(2, 0)};
    element_bytes_of(spec, 1);
  }
  if (value(3, 0) != 0) {
    spec.params[kBlockElements] = std::int64_t{value(3, 0)};
    block_elements_of(spec, element_bytes_of(spec, 1));
  }
  if (value(1, kOurMinorVersion) != kOurMinorVersion) spec.params[kMinorVersion] = std::int64_t{value(1, 0)};
  if (cd_values.size() > 5) spec.params[kLevel.key] = std::int64_t{cd_values[5]};
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t) {
  constexpr unsigned kMajor = 0;
  const std::int64_t size = element_bytes_of(spec, element_bytes);
  const Inside inside = inside_of(spec);
  const auto minor = static_cast<unsigned>(spec.integer(kMinorVersion, kOurMinorVersion));
  std::vector<unsigned> values{kMajor, minor, static_cast<unsigned>(size),
                               static_cast<unsigned>(block_elements_of(spec, size)),
                               kInsideCodes[static_cast<std::size_t>(inside)]};
  if (inside == Inside::zstd || spec.params.contains(kLevel.key)) {
    values.push_back(static_cast<unsigned>(spec.integer(kLevel.key, kLevel.otherwise)));
  }
  return values;
}

}  // namespace

constexpr CodecRow kBitshuffleRow{
    .name = kWithLevel.codec,
    .summary = "bit shuffle with lz4 or zstd inside, or alone",
    .usage = kWithLevel.usage,
    .bind = bind,
    .for_chunk = for_chunk,
    .parse = parse,
    .print = print,
    .hdf5_filter = 32008,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
