#include <catch2/catch.hpp>

#include "base/json.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;
using samples::from_hex;

namespace {

std::unique_ptr<Codec> make(const char* config) {
  const CodecRow& row = *find_codec_by_zarr2("categorize");
  return row.bind(row.from_zarr2(parse_json(config)), 4);
}

// Texts of three characters: "€", "", "äb", a character beyond 16 bits, and the start of a label that is too long.
const char* const kConfig =
    "{\"labels\": [\"\\u00e4b\", \"\\u20ac\", \"longer than\", \"\\ud834\\udd1e\"], \"dtype\": \"<U3\"}";
const ByteVector kTexts = from_hex(
    "ac2000000000000000000000"
    "000000000000000000000000"
    "e40000006200000000000000"
    "1ed101000000000000000000"
    "6c0000006f0000006e000000");

}  // namespace

TEST_CASE("Texts are stored as places among the labels, as numcodecs does") {
  const auto codec = make(kConfig);
  Bytes bytes;
  codec->decode(from_hex("0200010403"), kTexts.size(), bytes);
  CHECK(samples::copy(bytes) == kTexts);
  codec->encode(kTexts, bytes);
  CHECK(samples::copy(bytes) == from_hex("0200010403"));
  CHECK(codec->max_encoded_bytes(kTexts.size()) == 5);
  // Numbers of no label are the empty text.
  codec->decode(from_hex("05ff"), 24, bytes);
  CHECK(samples::copy(bytes) == ByteVector(24));
}

TEST_CASE("Texts that are no label, and damaged metadata, are refused") {
  const auto codec = make(kConfig);
  Bytes bytes;
  CHECK(code_of([&] { codec->encode(ByteVector(12, std::byte{1}), bytes); }) == Code::unsupported);
  CHECK(code_of([&] { codec->encode(ByteVector(7), bytes); }) == Code::unsupported);
  CHECK(code_of([&] { codec->decode(ByteVector(3), 35, bytes); }) == Code::corrupt);
  CHECK(code_of([] { make(R"({"labels": ["a"], "dtype": "|O"})"); }) == Code::unsupported);
  CHECK(code_of([] { make(R"({"labels": ["a"], "dtype": "<U0"})"); }) == Code::corrupt);
  CHECK(code_of([] { make(R"({"labels": ["a"], "dtype": "<U99999999999999999999"})"); }) == Code::corrupt);
  CHECK(code_of([] { make(R"({"labels": ["a"], "dtype": "<U3", "astype": "<f4"})"); }) == Code::unsupported);
  CHECK(code_of([] { make(R"({"labels": "a", "dtype": "<U3"})"); }) == Code::corrupt);
}
