#include <zlib.h>

#include <catch2/catch.hpp>

#include "codec/chain.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;

namespace {

ByteVector zlib_encode(const ByteVector& data, int level) {
  uLongf size = compressBound(data.size());
  ByteVector encoded(size);
  REQUIRE(compress2(reinterpret_cast<Bytef*>(encoded.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                    data.size(), level) == Z_OK);
  encoded.resize(size);
  return encoded;
}

ByteVector zlib_decode(ByteView encoded, std::size_t decoded_bytes) {
  ByteVector decoded(decoded_bytes + 1);
  uLongf size = decoded.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(decoded.data()), &size, reinterpret_cast<const Bytef*>(encoded.data()),
                     encoded.size()) == Z_OK);
  decoded.resize(size);
  return decoded;
}

ByteVector encode(const std::string& codecs, const ByteVector& data, std::size_t element_bytes) {
  CodecChain::Scratch scratch;
  return samples::copy(CodecChain(parse_codecs(codecs), element_bytes).encode(data, scratch));
}

ByteVector decode(const std::string& codecs, const ByteVector& encoded, std::size_t decoded_bytes) {
  CodecChain::Scratch scratch;
  return samples::copy(CodecChain(parse_codecs(codecs), 1).decode(encoded, decoded_bytes, 0, scratch));
}

}  // namespace

TEST_CASE("zlib reads what deflate writes at every level, and the other way round") {
  for (const ByteVector& data : {ByteVector{}, samples::noise(1), samples::smooth_field(5000), samples::noise(70000),
                                 ByteVector(100000, std::byte{7})}) {
    for (int level = 0; level <= 9; ++level) {
      INFO("level " << level << ", " << data.size() << " bytes");
      CHECK(zlib_decode(encode("deflate:" + std::to_string(level), data, 4), data.size()) == data);
      CHECK(decode("deflate", zlib_encode(data, level), data.size()) == data);
    }
  }
}

TEST_CASE("deflate is hardly larger than zlib at the same level") {
  struct Field {
    const char* name;
    ByteVector bytes;
    double level_1_limit;
  };
  const ByteVector rounded = samples::smooth_field<float>(100000);
  const ByteVector quiet = samples::smooth_field<float>(100000, 0.002, 0);
  const Field fields[] = {
      {"rounded floats, shuffled", encode("shuffle", rounded, 4), 1.03},
      {"noisy floats, shuffled", encode("shuffle", samples::smooth_field<float>(100000, 0.5, 0), 4), 1.03},
      {"noisy doubles, shuffled", encode("shuffle", samples::smooth_field<double>(50000, 0.05, 0), 8), 1.03},
      {"a small chunk, shuffled", encode("shuffle", samples::smooth_field<float>(2000), 4), 1.03},
      // The worst known: full of repeats of three bytes, which the fast encoder of level 1 does not look for.
      {"floats with hardly any noise, shuffled", encode("shuffle", quiet, 4), 1.045},
      {"rounded floats, not shuffled", rounded, 1.0},
      {"floats with hardly any noise, not shuffled", quiet, 1.045},
  };
  for (const Field& field : fields) {
    for (const int level : {1, 2, 4, 5, 6, 9}) {
      const auto ours = static_cast<double>(encode("deflate:" + std::to_string(level), field.bytes, 1).size());
      const auto theirs = static_cast<double>(zlib_encode(field.bytes, level).size());
      INFO(field.name << ", level " << level << ": " << ours / theirs);
      CHECK(ours <= (level == 1 ? field.level_1_limit : 1.03) * theirs);
    }
  }
}

TEST_CASE("deflate ignores bytes after the stream, as zlib's users do") {
  const ByteVector data = samples::smooth_field(1000);
  ByteVector encoded = zlib_encode(data, 5);
  encoded.resize(encoded.size() + 3);
  CHECK(decode("deflate", encoded, data.size()) == data);
}

TEST_CASE("gzip takes several members and zeros after them, but nothing else") {
  const ByteVector first = samples::smooth_field(1000);
  const ByteVector second = samples::noise(777);
  ByteVector both = encode("gzip:1", first, 1);
  const ByteVector more = encode("gzip:9", second, 1);
  both.insert(both.end(), more.begin(), more.end());
  ByteVector data = first;
  data.insert(data.end(), second.begin(), second.end());

  CHECK(decode("gzip", both, data.size()) == data);
  both.resize(both.size() + 100);
  CHECK(decode("gzip", both, data.size()) == data);
  both.push_back(std::byte{'x'});
  CHECK(samples::code_of([&] { decode("gzip", both, data.size()); }) == Code::corrupt);
}

TEST_CASE("A damaged checksum of the stream is found") {
  const ByteVector data = samples::smooth_field(1000);
  for (const char* codec : {"deflate", "gzip"}) {
    ByteVector encoded = encode(codec, data, 4);
    encoded[encoded.size() - 5 + (std::string(codec) == "deflate" ? 1 : -3)] ^= std::byte{1};
    CHECK(samples::code_of([&] { decode(codec, encoded, data.size()); }) == Code::corrupt);
  }
}
