#include <catch2/catch.hpp>

#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;

namespace {

// A generator that is easily written in other languages too.
ByteVector lcg(std::size_t n) {
  std::uint32_t x = 12345;
  ByteVector bytes;
  for (std::size_t i = 0; i < n; ++i) {
    x = (x * 1103515245U + 12345U) & 0x7FFFFFFFU;
    bytes.push_back(static_cast<std::byte>(x >> 16 & 0xFF));
  }
  return bytes;
}

ByteVector iota_bytes(unsigned first, unsigned last) {
  ByteVector bytes;
  for (unsigned i = first; i <= last; ++i) bytes.push_back(static_cast<std::byte>(i));
  return bytes;
}

ByteVector checksum(const char* codec, const ByteVector& data) {
  CodecChain::Scratch scratch;
  const ByteView encoded = CodecChain(parse_codecs(codec), 1).encode(data, scratch);
  REQUIRE(encoded.size() == data.size() + 4);
  REQUIRE(samples::copy(encoded.first(data.size())) == data);
  return samples::copy(encoded.last(4));
}

ByteVector text_bytes(std::string_view text) {
  return samples::copy(as_bytes(text));
}

}  // namespace

TEST_CASE("fletcher32 equals what HDF5 stores") {
  // Read raw from files that h5py 3 (HDF5 2) wrote.
  CHECK(checksum("fletcher32", iota_bytes(7, 7)) == samples::from_hex("00070007"));
  CHECK(checksum("fletcher32", iota_bytes(1, 7)) == samples::from_hex("0c10201e"));
  CHECK(checksum("fletcher32", ByteVector(6)) == samples::from_hex("00000000"));
  CHECK(checksum("fletcher32", ByteVector(4, std::byte{0xFF})) == samples::from_hex("ffffffff"));
  CHECK(checksum("fletcher32", ByteVector(1001, std::byte{0xFF})) == samples::from_hex("00ff00ff"));
  CHECK(checksum("fletcher32", lcg(5000)) == samples::from_hex("9d6e6f20"));
  CHECK(checksum("fletcher32", lcg(100001)) == samples::from_hex("fdd349d0"));
}

TEST_CASE("fletcher32 accepts the byte order of old HDF5 files, and no other") {
  const CodecChain chain(parse_codecs("fletcher32"), 1);
  CodecChain::Scratch scratch;
  ByteVector stored = iota_bytes(1, 7);
  const auto append = [&](const char* hex) {
    stored.resize(7);
    for (const std::byte each : samples::from_hex(hex)) stored.push_back(each);
  };
  append("100c1e20");
  CHECK(samples::copy(chain.decode(stored, 7, 0, scratch)) == iota_bytes(1, 7));
  append("1e20100c");
  CHECK(samples::code_of([&] { chain.decode(stored, 7, 0, scratch); }) == Code::corrupt);
}

TEST_CASE("crc32c equals the published check values") {
  CHECK(checksum("crc32c", text_bytes("123456789")) == samples::from_hex("839206e3"));
  CHECK(checksum("crc32c", {}) == samples::from_hex("00000000"));
  // RFC 3720, B.4: 32 bytes of zeros, of ones, and counting up.
  CHECK(checksum("crc32c", ByteVector(32)) == samples::from_hex("aa36918a"));
  CHECK(checksum("crc32c", ByteVector(32, std::byte{0xFF})) == samples::from_hex("43aba862"));
  CHECK(checksum("crc32c", iota_bytes(0, 31)) == samples::from_hex("4e79dd46"));
}

TEST_CASE("crc32c finds its place at the start when told so") {
  const CodecChain chain({{"crc32c", {{"location", std::string("start")}}}}, 1);
  CodecChain::Scratch scratch;
  const ByteVector data = text_bytes("123456789");
  const ByteVector encoded = samples::copy(chain.encode(data, scratch));
  CHECK(samples::copy(ByteView(encoded).first(4)) == samples::from_hex("839206e3"));
  CHECK(samples::copy(chain.decode(encoded, data.size(), 0, scratch)) == data);
  CHECK(samples::code_of([] { CodecChain({{"crc32c", {{"location", std::string("middle")}}}}, 1); }) == Code::corrupt);
}

TEST_CASE("The other checksums equal what numcodecs stores") {
  const auto encoded = [](const CodecSpec& spec, const ByteVector& data) {
    CodecChain::Scratch scratch;
    return samples::copy(CodecChain({spec}, 1).encode(data, scratch));
  };
  const auto at_start = [&](const char* codec, const ByteVector& data, const char* hex) {
    ByteVector due = samples::from_hex(hex);
    due.insert(due.end(), data.begin(), data.end());
    CHECK(encoded({codec, {}}, data) == due);
  };
  at_start("crc32", text_bytes("123456789"), "2639f4cb");
  at_start("crc32", lcg(5000), "6b37ce3b");
  at_start("adler32", text_bytes("123456789"), "de011e09");
  at_start("adler32", lcg(5000), "c0ca7325");
  const auto jenkins = [&](const ByteVector& data, std::int64_t initial) {
    const ByteVector all = encoded({"jenkins_lookup3", {{"initval", initial}}}, data);
    return ByteVector(all.end() - 4, all.end());
  };
  CHECK(jenkins(text_bytes("1"), 0) == samples::from_hex("7ca1929a"));
  CHECK(jenkins(text_bytes("123456789"), 7) == samples::from_hex("17c6b2d9"));
  CHECK(jenkins(text_bytes("123456789012"), 0) == samples::from_hex("b0f578b5"));
  CHECK(jenkins(text_bytes("1234567890123"), 0) == samples::from_hex("f5d986de"));
  CHECK(jenkins(lcg(5000), 7) == samples::from_hex("720cdba5"));
  CHECK(samples::code_of([] {
          find_codec("jenkins_lookup3")->from_zarr2(Json{{"prefix", Json::array({1})}});
        }) == Code::unsupported);
}

TEST_CASE("Any flipped bit is found by a checksum") {
  const ByteVector data = lcg(100);
  for (const char* codec : {"fletcher32", "crc32c", "crc32", "adler32", "jenkins_lookup3"}) {
    const CodecChain chain(parse_codecs(codec), 1);
    CodecChain::Scratch scratch;
    const ByteVector encoded = samples::copy(chain.encode(data, scratch));
    for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
      ByteVector damaged = encoded;
      damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      REQUIRE(samples::code_of([&] { chain.decode(damaged, data.size(), 0, scratch); }) == Code::corrupt);
    }
  }
}
