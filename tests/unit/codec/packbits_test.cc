#include <catch2/catch.hpp>

#include "base/json.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;
using samples::from_hex;

namespace {

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

std::unique_ptr<Codec> zarr3(const char* configuration, ElementKind kind, std::size_t bytes) {
  const CodecRow& row = *find_codec_by_zarr3("packbits");
  const Elements elements{kind, bytes, ByteOrder::little};
  return row.bind(row.for_chunk(row.from_zarr3(parse_json(configuration)), {{1}, elements}), bytes);
}

}  // namespace

TEST_CASE("Bits of numcodecs: the highest first, after the number of those that are not used") {
  const auto codec = find_codec("packbits")->bind({"packbits", {}}, 1);
  CHECK(encode(*codec, from_hex("01000001")) == from_hex("0490"));
  CHECK(encode(*codec, from_hex("0100000101010101")) == from_hex("009f"));
  CHECK(encode(*codec, {}) == from_hex("00"));
  CHECK(decode(*codec, from_hex("0490"), 4) == from_hex("01000001"));
  CHECK(decode(*codec, from_hex("00"), 0).empty());
  for (const char* damaged : {"", "0890", "ff90", "07", "0390"}) {
    INFO(damaged);
    CHECK(code_of([&] { decode(*codec, from_hex(damaged), 4); }) == Code::corrupt);
  }
  CHECK(code_of([&] { encode(*codec, from_hex("0102")); }) == Code::unsupported);
}

TEST_CASE("Bits of zarr 3: the lowest first") {
  const ByteVector booleans = from_hex("0100000101000000010001");
  CHECK(encode(*zarr3("{}", ElementKind::boolean, 1), booleans) == from_hex("1905"));
  CHECK(encode(*zarr3(R"({"padding_encoding": "first_byte"})", ElementKind::boolean, 1), booleans) ==
        from_hex("051905"));
  CHECK(encode(*zarr3(R"({"padding_encoding": "last_byte"})", ElementKind::boolean, 1), booleans) ==
        from_hex("190505"));
  for (const char* place : {"none", "first_byte", "last_byte"}) {
    const auto codec =
        zarr3((std::string(R"({"padding_encoding": ")") + place + R"("})").c_str(), ElementKind::boolean, 1);
    CHECK(decode(*codec, encode(*codec, booleans), booleans.size()) == booleans);
    CHECK(decode(*codec, encode(*codec, {}), 0).empty());
    CHECK(code_of([&] { decode(*codec, from_hex("19"), 11); }) == Code::corrupt);
    CHECK(code_of([&] { decode(*codec, from_hex("0519050505"), 11); }) == Code::corrupt);
  }
  CHECK(code_of([] {
          decode(*zarr3(R"({"padding_encoding": "first_byte"})", ElementKind::boolean, 1), from_hex("041905"), 11);
        }) == Code::corrupt);
}

TEST_CASE("Bits of a part of a number are extended by its sign") {
  // Bits 2 to 5 of two bytes: 4 bits each.
  const char* const part = R"({"first_bit": 2, "last_bit": 5})";
  CHECK(decode(*zarr3(part, ElementKind::int_, 2), from_hex("8f"), 4) == from_hex("fcffe0ff"));
  CHECK(decode(*zarr3(part, ElementKind::uint, 2), from_hex("8f"), 4) == from_hex("3c002000"));
  CHECK(code_of([&] { zarr3(part, ElementKind::uint, 2)->require_lossless(); }) == Code::unsupported);
  // All bits: the same bytes as without the codec.
  const ByteVector floats = samples::smooth_field(100);
  const auto all = zarr3(R"({"first_bit": null, "last_bit": 31})", ElementKind::float_, 4);
  all->require_lossless();
  CHECK(encode(*all, floats) == floats);
  CHECK(decode(*all, floats, floats.size()) == floats);
  CHECK(code_of([] { zarr3(R"({"first_bit": 9})", ElementKind::uint, 1); }) == Code::corrupt);
  CHECK(code_of([] { zarr3(R"({"last_bit": 16})", ElementKind::uint, 2); }) == Code::corrupt);
}
