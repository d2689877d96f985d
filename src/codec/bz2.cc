// Canonical "bz2": HDF5 filter 307, numcodecs "bz2", zarr 3 "numcodecs.bz2".
#include <bzlib.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr IntegerRange kLevelRange{1, 9};
constexpr Parameter kRows[] = {
    {.key = "level", .otherwise = 9, .asked = kLevelRange, .member = "level", .absent = 1},
};
constexpr Parameters kBz2{"bz2", "bz2[:LEVEL]  bzip2 stream, level 1-9 = blocks of that many 100 kB (default 9)", kRows,
                          "bz2"};
constexpr std::size_t kBlockBytes = 100'000;

// The library counts in 32 bits; longer buffers go through it in pieces.
unsigned piece(std::size_t n_bytes) {
  return static_cast<unsigned>(std::min<std::size_t>(n_bytes, std::numeric_limits<unsigned>::max()));
}

char* chars(const std::byte* bytes) {
  return const_cast<char*>(reinterpret_cast<const char*>(bytes));
}

// Fills both sides of the library's window anew as they run dry.
class Window {
 public:
  Window(bz_stream& stream, ByteView in, MutableByteView out) : stream_(stream), in_(in), out_(out) {}

  void refill() {
    if (stream_.avail_in == 0) {
      stream_.next_in = chars(in_.data());
      stream_.avail_in = piece(in_.size());
      in_ = in_.subspan(stream_.avail_in);
    }
    if (stream_.avail_out == 0) {
      stream_.next_out = chars(out_.data());
      stream_.avail_out = piece(out_.size());
      out_ = out_.subspan(stream_.avail_out);
    }
  }
  bool all_is_in() const { return in_.empty(); }
  std::size_t left_in() const { return in_.size() + stream_.avail_in; }
  std::size_t left_out() const { return out_.size() + stream_.avail_out; }

 private:
  bz_stream& stream_;
  ByteView in_;
  MutableByteView out_;
};

struct Encoder {
  explicit Encoder(int level) {
    if (BZ2_bzCompressInit(&stream, level, 0, 0) != BZ_OK) throw Error(Code::budget, "no memory for a bz2 encoder");
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { BZ2_bzCompressEnd(&stream); }
  bz_stream stream{};
};

struct Decoder {
  Decoder() {
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) throw Error(Code::budget, "no memory for a bz2 decoder");
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { BZ2_bzDecompressEnd(&stream); }
  bz_stream stream{};
};

// Decodes one stream from the front of `encoded`, which is cut, into the front of `out`; returns how much was made.
std::size_t decode_stream(ByteView& encoded, MutableByteView out, std::size_t max_decoded_bytes) {
  Decoder decoder;
  Window window(decoder.stream, encoded, out);
  // Where all room is used, one byte more tells whether the stream ends there.
  std::byte beyond{};
  for (;;) {
    window.refill();
    const bool full = window.left_out() == 0;
    if (full) {
      decoder.stream.next_out = chars(&beyond);
      decoder.stream.avail_out = 1;
    }
    const std::size_t left_in = window.left_in();
    const int result = BZ2_bzDecompress(&decoder.stream);
    if (full) {
      if (decoder.stream.avail_out == 0) throw_decoded_too_large("bz2", max_decoded_bytes);
      decoder.stream.avail_out = 0;
    }
    if (result == BZ_STREAM_END) break;
    if (result == BZ_MEM_ERROR) throw Error(Code::budget, "no memory for a bz2 decoder");
    if (result != BZ_OK) throw Error(Code::corrupt, "bz2 data is damaged");
    if (left_in == 0) throw Error(Code::corrupt, "bz2 data ends early");
  }
  encoded = encoded.last(window.left_in());
  return out.size() - window.left_out();
}

class Bz2 final : public Codec {
 public:
  explicit Bz2(int level) : level_(level) {}

  // What the library's manual promises.
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    return decoded_bytes + decoded_bytes / 100 + 600;
  }

  // By the library's manual: 8 blocks and 400 kB to encode, 4 blocks and 100 kB to decode.
  std::size_t scratch_bytes(std::size_t) const override {
    // Data of another writer may need the decoder of the highest level.
    const std::size_t encoder = 8 * kBlockBytes * static_cast<std::size_t>(level_) + 400'000;
    return std::max(encoder, 4 * kBlockBytes * kLevelRange.most + 100'000);
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    Encoder encoder(level_);
    Window window(encoder.stream, decoded, encoded.span());
    for (;;) {
      window.refill();
      const int result = BZ2_bzCompress(&encoder.stream, window.all_is_in() ? BZ_FINISH : BZ_RUN);
      if (result == BZ_STREAM_END) break;
      CHUNKWISE_CHECK(result == BZ_RUN_OK || result == BZ_FINISH_OK);
      CHUNKWISE_CHECK(window.left_out() > 0);
    }
    encoded.resize(encoded.size() - window.left_out());
  }

  // Several streams one after the other are legal.
  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.empty()) throw Error(Code::corrupt, "bz2 data ends early");
    decoded.resize_discard(max_decoded_bytes);
    MutableByteView rest = decoded.span();
    while (!encoded.empty()) rest = rest.subspan(decode_stream(encoded, rest, max_decoded_bytes));
    decoded.resize(decoded.size() - rest.size());
  }

 private:
  int level_;
};

// ---- spellings

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<Bz2>(static_cast<int>(kRows[0].integer(spec)));
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  const CodecSpec spec{"bz2", {{kRows[0].key, cd_values.empty() ? kRows[0].otherwise : std::int64_t{cd_values[0]}}}};
  kRows[0].integer(spec);
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  return {static_cast<unsigned>(kRows[0].integer(spec))};
}

}  // namespace

constexpr CodecRow kBz2Row{
    .name = kBz2.codec,
    .alias = "bzip2",
    .summary = "bzip2 stream",
    .usage = kBz2.usage,
    .bind = bind,
    .parse = parse_by<kBz2>,
    .print = print_by<kBz2>,
    .hdf5_filter = 307,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = kBz2.zarr2_id,
    .from_zarr2 = from_json_by<kBz2>,
    .to_zarr2 = to_zarr2_by<kBz2>,
    .zarr3_name = "numcodecs.bz2",
    .from_zarr3 = from_json_by<kBz2>,
    .to_zarr3 = to_zarr3_by<kBz2>,
};

}  // namespace chunkwise
