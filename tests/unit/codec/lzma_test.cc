#include <catch2/catch.hpp>

#include "base/json.h"
#include "codec/endian.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;
using samples::from_hex;

namespace {

std::unique_ptr<Codec> make(const char* config) {
  const CodecRow& row = *find_codec("lzma");
  return row.bind(row.from_zarr2(parse_json(config)), 1);
}

ByteVector decode(const Codec& codec, const ByteVector& encoded, std::size_t limit) {
  Bytes decoded;
  codec.decode(encoded, limit, decoded);
  return samples::copy(decoded);
}

ByteVector encode(const char* config, const ByteVector& data) {
  Bytes encoded;
  make(config)->encode(data, encoded);
  return samples::copy(encoded);
}

// Ten times "abc", as Python's lzma writes it.
const ByteVector kText = samples::copy(as_bytes("abcabcabcabcabcabcabcabcabcabc"));
const ByteVector kAlone = from_hex("5d00008000ffffffffffffffff00309888aafc0b7d1efffffdac1000");
const ByteVector kRaw1 = from_hex("00309888aafc0b7d1efffffdac1000");

}  // namespace

TEST_CASE("Every form of Python's module is decoded, and found out where it is not told") {
  CHECK(decode(*make(R"({"format": 2})"), kAlone, kText.size()) == kText);
  CHECK(decode(*make(R"({"format": 0})"), kAlone, kText.size()) == kText);
  CHECK(decode(*make(R"({"format": 3, "filters": [{"id": 4611686018427387905, "preset": 1}]})"), kRaw1, kText.size()) ==
        kText);
  const ByteVector xz = encode("{}", kText);
  CHECK(decode(*make(R"({"format": 0})"), xz, kText.size()) == kText);
  // Several streams, zeros between them, and what is no stream after them.
  ByteVector streams = xz;
  streams.resize(streams.size() + 8);
  streams.insert(streams.end(), xz.begin(), xz.end());
  streams.push_back(std::byte{7});
  CHECK(decode(*make("{}"), streams, 100).size() == 2 * kText.size());
  CHECK(code_of([&] { decode(*make("{}"), streams, 2 * kText.size() - 1); }) == Code::corrupt);
}

TEST_CASE("Dictionaries take no more memory than the data, whatever a header declares") {
  ByteVector alone = kAlone;
  for (const std::uint32_t declared : {0U, 1U, 4096U, 0xFFFFFFFFU, 0xC0000001U}) {
    store_little(declared, alone.data() + 1);
    CHECK(decode(*make(R"({"format": 2})"), alone, kText.size()) == kText);
  }
  const auto largest = make(R"({"format": 3, "filters": [{"id": 33, "dict_size": 1610612736}]})");
  CHECK(largest->scratch_bytes(1 << 16) < 4 << 20);
  const ByteVector field = samples::smooth_field(50000);
  Bytes encoded;
  largest->encode(field, encoded);
  CHECK(decode(*largest, samples::copy(encoded), field.size()) == field);
}

TEST_CASE("Metadata of impossible filters is refused") {
  for (const char* config :
       {R"({"format": 3})", R"({"format": 3, "filters": [{"id": 3}]})",
        R"({"format": 3, "filters": [{"id": 33, "lc": 5}]})", R"({"format": 3, "filters": [{"preset": 1}]})",
        R"({"format": 3, "filters": [{"id": 33, "nice_len": 1}]})", R"({"format": 2, "filters": [{"id": 33}]})",
        R"({"preset": 4294967295})"}) {
    INFO(config);
    CHECK(code_of([&] { make(config); }) == Code::corrupt);
  }
  CHECK(code_of([] { make(R"({"format": 3, "filters": [{"id": 77}]})"); }) == Code::unsupported);
  CHECK(code_of([] { make(R"({"check": 9})"); }) == Code::unsupported);
}
