// What the HDF5 library and the plugins of hdf5plugin store, read and written the same; and what hostile parameters do.
#include <catch2/catch.hpp>

#include <array>

#include "codec/chain.h"
#include "codec/filter_names.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;

namespace {

using Values = std::vector<unsigned>;

std::unique_ptr<Codec> make(int filter, const Values& cd, std::size_t element_bytes = 1) {
  const CodecRow* row = find_codec_by_hdf5(filter);
  REQUIRE(row != nullptr);
  return row->bind(row->from_hdf5(cd), element_bytes);
}

template <typename T>
ByteVector numbers(std::size_t n, T start = 0) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>(start + static_cast<T>(i));
  return samples::bytes_of(values);
}

template <typename T>
ByteVector swapped(ByteVector bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + sizeof(T)));
  }
  return bytes;
}

ByteVector decode(const Codec& codec, const ByteVector& encoded, std::size_t limit) {
  Bytes decoded;
  codec.decode(encoded, limit, decoded);
  return samples::copy(decoded);
}

ByteVector encode(const Codec& codec, const ByteVector& decoded) {
  Bytes encoded;
  codec.encode(decoded, encoded);
  return samples::copy(encoded);
}

// One chunk as the library stores it.
struct Stored {
  const char* what;
  int filter;
  Values cd;
  ByteVector decoded;
  const char* hex;
  bool same_bytes;  // an encoder has no choice, or ours makes the same
};

ByteVector text(std::string_view characters) {
  return samples::copy(as_bytes(characters));
}

const std::vector<Stored>& stored_chunks() {
  static const std::vector<Stored> all = [] {
    std::string repeats = "abcabcabcabcXabcabcabcabcXabcabcabcabcX0123456789";
    repeats.resize(340, 'z');
    std::vector<std::int16_t> with_fill(40);
    for (std::size_t i = 0; i < with_fill.size(); ++i) {
      with_fill[i] = static_cast<std::int16_t>(i % 4 == 0 ? -1 : static_cast<int>(3 * i));
    }
    ByteVector extremes;
    for (int i = 0; i < 3; ++i) {
      for (const int value : {-128, 127, 5, 6}) extremes.push_back(static_cast<std::byte>(value));
    }
    const Values none12{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const auto scale = [&](Values head, unsigned fill = 0) {
      head.insert(head.end(), none12.begin(), none12.end());
      head[8] = fill;
      return head;
    };
    return std::vector<Stored>{
        {"lzf",
         32000,
         {4, 261, 340},
         text(repeats),
         "0361626361c0020058e000092008e0050c0a303132333435363738397ae0ff00e00f00017a7a",
         false},
        {"bitshuffle",
         32008,
         {0, 4, 4, 0, 0},
         numbers<std::int32_t>(40),
         "aaaaaaaaaaccccccccccf0f0f0f0f000ff00ff000000ffff0000000000ff0000000000000000000000000000000000000000000000000"
         "000"
         "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "000"
         "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
         true},
        {"bitshuffle with lz4",
         32008,
         {0, 3, 4, 16, 2},
         numbers<std::int32_t>(37),
         "000000000000009400000040000000139faaaaccccf0f000ff0001001f50000000000000000015bfaaaaccccf0f000ffffff0001001d5"
         "000"
         "000000002000000021000000220000002300000024000000",
         true},
        {"bitshuffle with zstd",
         32008,
         {0, 4, 4, 0, 3, 3},
         numbers<std::int32_t>(40),
         "00000000000000a0000020000000002728b52ffd20a0f5000080aaaaaaaaaaccf000ff00ff000000ff0005003c97c0452e4a300816003"
         "8",
         false},
        {"szip of differences",
         4,
         {169, 8, 32, 40},
         numbers<std::int32_t>(40),
         "a0000000200924924924924924924924924924924920001000080004",
         true},
        {"szip of values, scanlines padded",
         4,
         {141, 16, 32, 40},
         numbers<std::int32_t>(40),
         "a00000007eaa492222236363637555555554048d159e26af37be924924ff8091a2b380000000010204",
         true},
        {"szip of big-endian pixels",
         4,
         {177, 12, 16, 40},
         swapped<std::int16_t>(numbers<std::int16_t>(40)),
         "500000001000049249249124924924912492492491249ff0",
         true},
        {"scaleoffset", 6, scale({2, 0, 40, 0, 4, 1, 0, 1}), numbers<std::int32_t>(40, -5),
         "0600000008fbffffffffffffff000000000000000000108313f18720928b30d38f41149351559761969b71d79f8218a39259a700",
         true},
        {"scaleoffset with a fill", 6, scale({2, 0, 40, 0, 2, 1, 0, 1}, 65535), samples::bytes_of(with_fill),
         "070000000803000000000000000000000000000000fe00186fe30792fe60d9efe913aafec19b6fef1fc2ff225ceff52bdaff831e6ffb3"
         "7f2"
         "00",
         true},
        {"scaleoffset of all bits", 6, scale({2, 0, 12, 0, 1, 1, 0, 1}), extremes,
         "080000000800000000000000000000000000000000807f0506807f0506807f0506", false},
        {"scaleoffset of one value", 6, scale({2, 0, 9, 0, 4, 1, 1, 1}),
         swapped<std::int32_t>(samples::bytes_of(std::vector<std::int32_t>(9, -7))),
         "0100000008f9ffffffffffffff00000000000000000000", true},
        {"nbit, 17 bits of 4 bytes",
         5,
         {8, 0, 12, 1, 4, 1, 17, 3},
         samples::from_hex(
             "000fffd0000fffd8000fffe0000fffe8000ffff0000ffff800000000000000080000001000000018000000200000"
             "0028"),
         "fffd7ffeffff9fffdffff7fffc0000000100010000c000800050",
         true},
        {"nbit, 8 bits of 2 bytes", 5, {8, 0, 8, 1, 2, 0, 8, 0}, numbers<std::int16_t>(8), "000102030405060700", true},
        {"nbit of a compound",
         5,
         {23, 0, 3, 3, 16, 3, 1, 1, 2, 0, 5, 0, 4, 2, 8, 1, 4, 1, 11, 2, 12, 4, 3},
         samples::from_hex("0001000000000010000000147879000000020000000000180000001c6162000000030000000000200000"
                           "1fdc00000000"),
         "080400af0f200200c01d8588006023fb80000000",
         true},
        {"nbit with nothing to do", 5, {8, 1, 2, 1, 4, 0, 32, 0}, numbers<std::int32_t>(2), "0000000001000000", true},
        {"bitgroom", 32022, {3, 4, 0, 0, 0}, numbers<std::int32_t>(2), "0000000001000000", true},
        {"granular bitround", 32023, {3, 4, 0, 0, 0}, numbers<std::int32_t>(2), "0000000001000000", true},
    };
  }();
  return all;
}

bool safe(const Codec& codec, const ByteVector& damaged, std::size_t limit) {
  Bytes decoded;
  const Code code = code_of([&] { codec.decode(damaged, limit, decoded); });
  return (code == Code::ok && decoded.size() <= limit) || code == Code::corrupt;
}

}  // namespace

TEST_CASE("Chunks as the library stores them are read, and written so that it reads them") {
  for (const Stored& chunk : stored_chunks()) {
    INFO(chunk.what);
    const auto codec = make(chunk.filter, chunk.cd, 4);
    const ByteVector encoded = samples::from_hex(chunk.hex);
    CHECK(decode(*codec, encoded, chunk.decoded.size()) == chunk.decoded);
    CHECK(decode(*codec, encode(*codec, chunk.decoded), chunk.decoded.size()) == chunk.decoded);
    if (chunk.same_bytes) CHECK(encode(*codec, chunk.decoded) == encoded);
    CHECK(encode(*codec, chunk.decoded).size() <= codec->max_encoded_bytes(chunk.decoded.size()));
    CHECK(code_of([&] { decode(*codec, encoded, chunk.decoded.size() - 1); }) == Code::corrupt);
    // For the same chunk the parameters stay as they were found.
    const CodecRow& row = *find_codec_by_hdf5(chunk.filter);
    const std::size_t element_bytes = chunk.filter == 5 ? chunk.decoded.size() / chunk.cd[2] : 4;
    CHECK(row.to_hdf5(row.from_hdf5(chunk.cd), element_bytes, chunk.decoded.size()) == chunk.cd);
  }
}

TEST_CASE("Stored chunks that end early or have flipped bits do no harm") {
  std::mt19937 random(11);
  for (const Stored& chunk : stored_chunks()) {
    INFO(chunk.what);
    const auto codec = make(chunk.filter, chunk.cd, 4);
    const ByteVector encoded = samples::from_hex(chunk.hex);
    for (std::size_t size = 0; size < encoded.size(); ++size) {
      CHECK(safe(*codec, ByteVector(encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(size)),
                 chunk.decoded.size()));
    }
    for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
      ByteVector damaged = encoded;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      CHECK(safe(*codec, damaged, chunk.decoded.size()));
    }
    for (int trial = 0; trial < 200; ++trial) {
      CHECK(safe(*codec, samples::noise(random() % 100, static_cast<std::uint32_t>(random())), chunk.decoded.size()));
    }
  }
}

TEST_CASE("Scale-offset floats are read to the last bit, and never encoded") {
  const Values f4{0, 2, 40, 1, 4, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto single = make(6, f4);
  CHECK(
      decode(
          *single,
          samples::from_hex("0a000000082549123e000000000000000000000000ffc000381d0ac3911c56190722048f274ab2e8c8358e53"
                            "cd0143d1e4b13a525575957360990679ad6edc975de67d2028461f00"),
          160) ==
      samples::from_hex("000000002549123ea7d2903e749fdd3ec4a6123fce7d363fd8545a3fa05d803f2549923faa34a43fdd67b73f6253c9"
                        "3fe83edb3f6d2aed3fd02e004092240940551a1240eeb31b40b1a92440739f2d4036953640cf2e40409224494055"
                        "1a5240eeb35b40b1a96440739f6d403695764068178040499284402a0d8940f7d98d40d8549240bacf96409b4a9b"
                        "406817a0404992a4402a0da940f7d9ad40d854b240"));
  const Values f8{0, 3, 10, 1, 8, 0, 1, 1, 0, 1073741824, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK(
      decode(*make(6, f8), samples::from_hex("0b00000008000000000000f0bf000000000000000000023c8f1ad476b29acbe88ef418"),
             80) ==
      samples::from_hex("bff0000000000000bfeb6c8b43958106bfe6d916872b020cbfe245a1cac08312bfdb74bc6a7ef9dcbfd24dd2f1a9fb"
                        "e8bfc24dd2f1a9fbe800000000000000003fc24dd2f1a9fbe83fd24dd2f1a9fbe8"));
  CHECK(code_of([&] { single->require_lossless(); }) == Code::unsupported);
  CHECK(code_of([&] { encode(*single, numbers<std::int32_t>(40)); }) == Code::unsupported);
  CHECK_THAT(samples::message_of([&] { single->require_lossless(); }),
             Catch::Contains("6 (scaleoffset)") && Catch::Contains("--codec"));
}

TEST_CASE("n-bit gives back every bit of short numbers; pad bits that are set leave the filter out") {
  // 20 bits from bit 7 on of 4 bytes, of integers or floats: their bits are all the filter knows.
  const auto codec = make(5, {8, 0, 4, 1, 4, 0, 20, 7});
  codec->require_lossless();
  const ByteVector used = samples::bytes_of(std::vector<std::uint32_t>{0x07FFFF80, 0x00000080, 0x04000000, 0x05555500});
  Bytes encoded;
  Bytes decoded;
  codec->encode(used, encoded);
  CHECK(encoded.size() == 11);
  codec->decode(encoded, used.size(), decoded);
  CHECK(samples::copy(decoded) == used);

  ByteVector whole(16);
  CHECK(codec->encode_or_skip(whole, encoded));
  whole[0] = std::byte{1};
  CHECK_FALSE(codec->encode_or_skip(whole, encoded));
  CHECK(code_of([&] { encode(*codec, whole); }) == Code::unsupported);
}

TEST_CASE("Integers of every range survive scale-offset, whatever number of bits was asked for") {
  std::mt19937_64 random(5);
  for (const std::size_t bytes : {1U, 2U, 4U, 8U}) {
    for (const unsigned bits : {0U, 1U, 5U, 64U}) {
      for (const unsigned variant : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
        Values cd{2, bits, 100, 0, static_cast<unsigned>(bytes), variant & 1U, variant >> 1 & 1U, variant >> 2};
        cd.resize(20, 0);
        cd[8] = 3;
        const auto codec = make(6, cd);
        for (unsigned shift = 0; shift < 64; shift += 3) {
          ByteVector data;
          const std::uint64_t origin = random();
          for (int i = 0; i < 100; ++i) {
            const std::uint64_t value = i % 9 == 0 ? 3 : origin + (random() >> shift);
            for (std::size_t k = 0; k < bytes; ++k) {
              const std::size_t place = (variant >> 1 & 1U) != 0 ? bytes - 1 - k : k;
              data.push_back(static_cast<std::byte>(value >> (8 * place)));
            }
          }
          const ByteVector encoded = encode(*codec, data);
          REQUIRE(encoded.size() <= codec->max_encoded_bytes(data.size()));
          REQUIRE(decode(*codec, encoded, data.size()) == data);
        }
      }
    }
  }
}

TEST_CASE("Filters are left out of a chunk where the sink can say so") {
  CodecChain::Scratch scratch;
  std::uint32_t skipped = 7;
  const ByteVector noise = samples::noise(4000);
  const CodecChain chain(parse_codecs("shuffle,lzf,fletcher32"), 4);
  const ByteVector encoded = samples::copy(chain.encode(noise, scratch, &skipped));
  CHECK(skipped == 2);
  CHECK(encoded.size() == noise.size() + 4);
  CHECK(samples::copy(chain.decode(encoded, noise.size(), skipped, scratch)) == noise);
  const ByteVector zeros(4000);
  chain.encode(zeros, scratch, &skipped);
  CHECK(skipped == 0);
  // All codecs left out: the chunk itself.
  const CodecChain lzf(parse_codecs("lzf"), 1);
  CHECK(lzf.encode(noise, scratch, &skipped).data() == noise.data());
  CHECK(skipped == 1);
  // Elsewhere it is stored as literals.
  CHECK(samples::copy(lzf.decode(samples::copy(lzf.encode(noise, scratch)), noise.size(), 0, scratch)) == noise);
}

TEST_CASE("Parameters follow the chunk") {
  const auto szip = [](const Shape& chunk, const char* codec = "szip:nn:16", std::size_t bytes = 4) {
    const CodecSpec spec =
        for_chunk(parse_codecs(codec), {chunk, {ElementKind::opaque, bytes, ByteOrder::little}}).front();
    return find_codec("szip")->to_hdf5(spec, bytes, 0);
  };
  CHECK(szip({100, 40}) == Values{169, 16, 32, 40});
  CHECK(szip({100, 5000}) == Values{169, 16, 32, 2048});
  CHECK(szip({100, 5}) == Values{169, 16, 32, 500});  // rows below a block: scanlines run on
  CHECK(szip({10000, 5}) == Values{169, 16, 32, 2048});
  CHECK(szip({64}, "szip:ec:32", 2) == Values{141, 32, 16, 64});
  CHECK(code_of([&] { szip({3, 5}); }) == Code::unsupported);
  CHECK(code_of([&] { szip({100}, "szip", 3); }) == Code::unsupported);
  const CodecSpecs specs =
      for_chunk(parse_codecs("shuffle,deflate:1,bitshuffle"), {{10}, {ElementKind::float_, 8, ByteOrder::big}});
  CHECK(specs[0].integer("element_bytes", 0) == 8);
  CHECK(specs[1] == parse_codecs("deflate:1").front());
  CHECK(specs[2].integer("element_bytes", 0) == 8);
}

TEST_CASE("Hostile parameters are corrupt or not supported, at once") {
  const auto refused = [](int filter, const Values& cd) {
    const Code code = code_of([&] { make(filter, cd, 4); });
    return code == Code::corrupt || code == Code::unsupported;
  };
  const unsigned all = 0xFFFFFFFFU;
  CHECK(refused(4, {169, 8, 32}));
  CHECK(refused(4, {169, 7, 32, 40}));
  CHECK(refused(4, {169, 8, 0, 40}));
  CHECK(refused(4, {169, 8, 25, 40}));
  CHECK(refused(4, {169, 8, 32, 4}));
  CHECK(refused(4, {169, 8, 32, all}));
  CHECK(refused(4, {169, all, 32, 40}));
  CHECK(refused(5, {}));
  CHECK(refused(5, {3, 0, 10}));
  CHECK(refused(5, {8, 0, 10, 1, 4, 0, 33, 0}));
  CHECK(refused(5, {8, 0, 10, 1, 4, 0, 0, 0}));
  CHECK(refused(5, {8, 0, 10, 1, 4, 0, 17, all}));
  CHECK(refused(5, {8, 0, 10, 9, 4, 0, 17, 0}));
  CHECK(refused(5, {5, 0, 10, 4, all}));
  CHECK(refused(5, {5, 0, 10, 4, 0}));
  CHECK(refused(5, {7, 0, 10, 2, all, 4, 1}));
  CHECK(refused(5, {8, 0, 10, 2, 7, 4, 2}));
  CHECK(refused(5, {8, 0, 10, 3, 4, 1, 4, 4, 1}));
  CHECK(refused(5, {8, 0, 10, 3, all, 0}));
  CHECK(refused(5, {8, 0, 10, 3, 4, all, 0, 4, 1}));
  Values deep{0, 0, 10};
  for (int i = 0; i < 1000; ++i) deep.insert(deep.end(), {2, 4});
  CHECK(refused(5, deep));
  CHECK(refused(6, {2, 0, 40}));
  Values scale{2, 0, 40, 0, 3, 1, 0, 0};
  scale.resize(20, 0);
  CHECK(refused(6, scale));  // integers of 3 bytes
  scale[4] = 2;
  scale[0] = 0;
  scale[3] = 1;
  CHECK(refused(6, scale));  // floats of 2 bytes
  scale[4] = 4;
  scale[0] = 1;
  CHECK(refused(6, scale));  // powers of two, which no library has
  CHECK(refused(307, {0}));
  CHECK(refused(307, {10}));
  CHECK(refused(32008, {0, 4, all, 0, 2}));
  CHECK(refused(32008, {0, 4, 4, 12, 2}));
  CHECK(refused(32008, {0, 4, 4, all - 7, 2}));
  CHECK(refused(32008, {0, 4, 4, 0, 1}));
}

TEST_CASE("Well-known filters have names") {
  CHECK(filter_name(4) == "szip");
  CHECK(filter_name(32013) == "zfp");
  CHECK(filter_name(32020) == "vbz");
  CHECK(filter_name(32026) == "blosc2");
  CHECK(filter_name(31999).empty());
  CHECK_THAT(samples::message_of([] {
               CodecChain({{"hdf5-32026", {}}}, 4);
             }),
             Catch::Contains("filter 32026 (blosc2)"));
}
