// What zstd, lz4 and blosc buffers of other writers look like.
#include <blosc.h>
#include <zstd.h>

#include <catch2/catch.hpp>

#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;

namespace {

ByteVector decode(const std::string& codecs, const ByteVector& encoded, std::size_t decoded_bytes) {
  CodecChain::Scratch scratch;
  return samples::copy(CodecChain(parse_codecs(codecs), 4).decode(encoded, decoded_bytes, 0, scratch));
}

ByteVector encode(const std::string& codecs, const ByteVector& data) {
  CodecChain::Scratch scratch;
  return samples::copy(CodecChain(parse_codecs(codecs), 4).encode(data, scratch));
}

void append(ByteVector& to, const ByteVector& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// As an encoder that does not know the end yet writes: no content size in the header.
ByteVector streamed_zstd(const ByteVector& data) {
  ZSTD_CStream* stream = ZSTD_createCStream();
  ByteVector out(ZSTD_compressBound(data.size()) + 1000);
  ZSTD_outBuffer output{out.data(), out.size(), 0};
  const std::size_t half = data.size() / 2;
  ZSTD_inBuffer first{data.data(), half, 0};
  ZSTD_compressStream2(stream, &output, &first, ZSTD_e_flush);
  ZSTD_inBuffer second{data.data() + half, data.size() - half, 0};
  REQUIRE(ZSTD_compressStream2(stream, &output, &second, ZSTD_e_end) == 0);
  ZSTD_freeCStream(stream);
  out.resize(output.pos);
  REQUIRE(ZSTD_getFrameContentSize(out.data(), out.size()) == ZSTD_CONTENTSIZE_UNKNOWN);
  return out;
}

// 0, 1, ..., 39 as little-endian int32, the content of the stored chunks below.
ByteVector forty_integers() {
  std::vector<std::int32_t> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  return samples::bytes_of(values);
}

}  // namespace

TEST_CASE("zstd takes frames without a size, several frames, and skippable ones") {
  const ByteVector first = samples::smooth_field(3000);
  const ByteVector second = samples::noise(500);
  ByteVector data = first;
  append(data, second);

  CHECK(decode("zstd", streamed_zstd(first), first.size()) == first);
  ByteVector both = streamed_zstd(first);
  append(both, samples::from_hex("502a4d1803000000aabbcc"));
  append(both, encode("zstd:5", second));
  CHECK(decode("zstd", both, data.size()) == data);
  CHECK(samples::code_of([&] { decode("zstd", both, data.size() - 1); }) == Code::corrupt);
  append(both, samples::from_hex("00"));
  CHECK(samples::code_of([&] { decode("zstd", both, data.size()); }) == Code::corrupt);
}

TEST_CASE("zstd writes the checksum it is asked for") {
  const ByteVector data = samples::smooth_field(100);
  const ByteVector plain = encode("zstd:3", data);
  ByteVector checked = encode("zstd:3:checksum", data);
  REQUIRE(checked.size() == plain.size() + 4);
  CHECK(decode("zstd", checked, data.size()) == data);
  checked.back() ^= std::byte{1};
  CHECK(samples::code_of([&] { decode("zstd", checked, data.size()); }) == Code::corrupt);
}

TEST_CASE("lz4 is the size and one block, as numcodecs stores it") {
  const ByteVector data(24, std::byte{'a'});
  const ByteVector ours = encode("lz4", data);
  CHECK(samples::copy(ByteView(ours).first(4)) == samples::from_hex("18000000"));
  CHECK(decode("lz4", ours, data.size()) == data);
}

TEST_CASE("hdf5-lz4 reads what the HDF5 filter stores, and writes the same") {
  // From files written by h5py with hdf5plugin: blocks of 64 bytes, and the default block.
  const ByteVector in_blocks = samples::from_hex(
      "00000000000000a0000000400000004000000000010000000200000003000000040000000500000006000000070000000800000009000000"
      "0a"
      "0000000b0000000c0000000d0000000e0000000f000000000000401000000011000000120000001300000014000000150000001600000017"
      "00"
      "000018000000190000001a0000001b0000001c0000001d0000001e0000001f00000000000020200000002100000022000000230000002400"
      "0000"
      "250000002600000027000000");
  const ByteVector whole = samples::from_hex(
      "00000000000000a0000000a0000000a000000000010000000200000003000000040000000500000006000000070000000800000009000000"
      "0a"
      "0000000b0000000c0000000d0000000e0000000f000000100000001100000012000000130000001400000015000000160000001700000018"
      "0000"
      "00190000001a0000001b0000001c0000001d0000001e0000001f000000200000002100000022000000230000002400000025000000260000"
      "0027"
      "000000");
  CHECK(decode("hdf5-lz4", in_blocks, 160) == forty_integers());
  CHECK(decode("hdf5-lz4", whole, 160) == forty_integers());
  CHECK(encode("hdf5-lz4:64", forty_integers()) == in_blocks);
  CHECK(encode("hdf5-lz4", forty_integers()) == whole);
}

TEST_CASE("hdf5-lz4 refuses headers that cannot be") {
  const auto refused = [](const char* hex) {
    return samples::code_of([&] { decode("hdf5-lz4", samples::from_hex(hex), 160); }) == Code::corrupt;
  };
  CHECK(refused(""));
  CHECK(refused("00000000000000a0000000"));
  CHECK(refused("00000000000000a000000000"));            // blocks of nothing
  CHECK(refused("00000000000000a0ffffffff"));            // blocks above the limit
  CHECK(refused("ffffffffffffffa000000040"));            // more than belongs here
  CHECK(refused("00000000000000a000000040000000ff00"));  // a block beyond the end
}

TEST_CASE("zstd and blosc chunks of HDF5 are read") {
  const ByteVector zstd = samples::from_hex(
      "28b52ffd20a0fd010002ca0e0b1058be19fca0cbe7114a016f9cf1c5154f1cf1c30d2f9cf0c1050f1cf0efdebb73dfae3d3bf6ebd6ab539f"
      "2e3d"
      "3af4e7ce9b335fae3c39f2e30300");
  const ByteVector blosc = samples::from_hex(
      "02019104a0000000a000000052000000140000003a00000028b52ffd20a08d01009402000102030405060708090a0b0c0d0e0f1011121314"
      "1516"
      "1718191a1b1c1d1e1f2021222324252627000100a1292803");
  CHECK(decode("zstd", zstd, 160) == forty_integers());
  CHECK(decode("blosc", blosc, 160) == forty_integers());
}

TEST_CASE("A blosc buffer whose compressor is missing is named, a contradictory one is corrupt") {
  ByteVector stored = encode("blosc:lz4:5:shuffle", samples::smooth_field(1000));
  ByteVector snappy = stored;
  snappy[2] = (snappy[2] & std::byte{0x1F}) | std::byte{2 << 5};
  if (blosc_compname_to_compcode("snappy") < 0) {
    CHECK_THAT(samples::message_of([&] { decode("blosc", snappy, 4000); }), Catch::Contains("snappy"));
    CHECK(samples::code_of([&] { decode("blosc", snappy, 4000); }) == Code::unsupported);
  } else {
    CHECK(samples::code_of([&] { decode("blosc", snappy, 4000); }) == Code::corrupt);
  }
  ByteVector unknown = stored;
  unknown[2] = unknown[2] | std::byte{0xE0};
  CHECK(samples::code_of([&] { decode("blosc", unknown, 4000); }) == Code::corrupt);
  ByteVector no_blocks = stored;
  for (std::size_t i = 8; i < 12; ++i) no_blocks[i] = std::byte{0};
  CHECK(samples::code_of([&] { decode("blosc", no_blocks, 4000); }) == Code::corrupt);
}

TEST_CASE("blosc chooses its shuffle by the element when left to") {
  CodecChain::Scratch scratch;
  const ByteVector data = samples::smooth_field(1000);
  const CodecSpecs specs = parse_codecs("blosc:zstd:5:auto");
  const auto flags = [&](std::size_t element_bytes) {
    return static_cast<unsigned>(CodecChain(specs, element_bytes).encode(data, scratch)[2]);
  };
  CHECK((flags(1) & 5U) == 4U);  // bit shuffle
  CHECK((flags(4) & 5U) == 1U);  // byte shuffle
}

TEST_CASE("GDAL writes the shuffle of blosc in several ways") {
  const CodecRow& row = *find_codec("blosc");
  for (const auto& [spelled, number] :
       {std::pair{"NONE", 0}, {"BYTE", 1}, {"BIT", 2}, {"0", 0}, {"1", 1}, {"2", 2}, {"noshuffle", 0}}) {
    const CodecSpec spec =
        row.from_zarr2(Json{{"id", "blosc"}, {"cname", "lz4"}, {"clevel", 5}, {"shuffle", spelled}, {"blocksize", 0}});
    CHECK(row.to_zarr2(spec, 4).at("shuffle") == Json(number));
  }
  CHECK(samples::code_of([&] { row.from_zarr2(parse_json(R"({"id": "blosc", "shuffle": "3"})")); }) == Code::corrupt);
}
