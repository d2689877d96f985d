#include "codec/numbers.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::bytes_of;
using samples::ByteVector;
using samples::code_of;
using samples::from_hex;

namespace {

std::unique_ptr<Codec> make(const char* config, std::size_t element_bytes = 1) {
  const Json json = parse_json(config);
  const CodecRow& row = *find_codec_by_zarr2(json.at("id").get<std::string>());
  return row.bind(row.from_zarr2(json), element_bytes);
}

ByteVector decode(const Codec& codec, const ByteVector& encoded, std::size_t limit = 1 << 20) {
  Bytes decoded;
  codec.decode(encoded, limit, decoded);
  return samples::copy(decoded);
}

ByteVector encode(const Codec& codec, const ByteVector& decoded) {
  Bytes encoded;
  codec.encode(decoded, encoded);
  return samples::copy(encoded);
}

std::string cast(const char* from, const char* to) {
  return std::string(R"({"id": "astype", "encode_dtype": ")") + from + R"(", "decode_dtype": ")" + to + R"("})";
}

}  // namespace

TEST_CASE("Names of numbers are read as numpy writes them") {
  const auto same = [](const char* name, const char* canonical) {
    const auto elements = parse_elements(name);
    REQUIRE(elements);
    CHECK(to_string(*elements) == canonical);
  };
  same("<i4", "<i4");
  same(">f2", ">f2");
  same("|u1", "|u1");
  same("<u1", "|u1");
  same("|b1", "|b1");
  same("bool", "|b1");
  same("i8", "<i8");
  same("=u2", "<u2");
  same("float32", "<f4");
  same("uint16", "<u2");
  for (const char* name : {"", "<", "i", "i3", "<f1", "f16", "<c8", "|O", "<M8[s]", "<U4", "int", "int12", "float8",
                           "b2", "i4 ", "u-1", "<i99999999999999999999"}) {
    INFO(name);
    CHECK_FALSE(parse_elements(name));
  }
}

TEST_CASE("A cast survives where the other type holds every number") {
  const auto survives = [](const char* from, const char* to) {
    return survives_cast(*parse_elements(from), *parse_elements(to));
  };
  CHECK(survives("i4", "i8"));
  CHECK(survives("i4", "u4"));
  CHECK(survives("u1", "f2"));
  CHECK(survives("i4", "f8"));
  CHECK(survives("f2", "f4"));
  CHECK(survives("f8", ">f8"));
  CHECK(survives("b1", "f2"));
  CHECK_FALSE(survives("i2", "i1"));
  CHECK_FALSE(survives("i2", "f2"));
  CHECK_FALSE(survives("i4", "f4"));
  CHECK_FALSE(survives("i8", "f8"));
  CHECK_FALSE(survives("f4", "f2"));
  CHECK_FALSE(survives("f4", "i8"));
  CHECK_FALSE(survives("u1", "b1"));
}

TEST_CASE("Casts between all types give what C gives") {
  // Numbers that every type holds, in all of them.
  const char* const types[] = {"|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">u4", "<i8",
                               "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"};
  const ByteVector numbers = bytes_of(std::vector<std::int8_t>{0, 1, 2, 7, 100, 127});
  for (const char* from : types) {
    for (const char* to : types) {
      INFO(from << " to " << to);
      const ByteVector in_from = decode(*make(cast("|i1", from).c_str()), numbers);
      const ByteVector in_to = decode(*make(cast("|i1", to).c_str()), numbers);
      CHECK(decode(*make(cast(from, to).c_str()), in_from) == in_to);
    }
  }
}

TEST_CASE("Casts wrap integers around, cut fractions and round floats to the nearest") {
  const auto decoded = [](const char* from, const char* to, const ByteVector& bytes) {
    return decode(*make(cast(from, to).c_str()), bytes);
  };
  CHECK(decoded("<i4", "|i1", bytes_of(std::vector<std::int32_t>{200, -1, 65536})) == from_hex("c8ff00"));
  CHECK(decoded("<u8", "<i8", bytes_of(std::vector<std::uint64_t>{~std::uint64_t{0}})) == from_hex("ffffffffffffffff"));
  CHECK(decoded("<u8", "<f8", bytes_of(std::vector<std::uint64_t>{~std::uint64_t{0}})) ==
        bytes_of(std::vector{0x1p64}));
  CHECK(decoded("<f8", "<i2", bytes_of(std::vector{-1.9, 1.9, 300.5})) ==
        bytes_of(std::vector<std::int16_t>{-1, 1, 300}));
  CHECK(decoded("<f8", "|b1", bytes_of(std::vector{0.0, -0.0, 0.25, std::nan("")})) == from_hex("00000101"));
  CHECK(decoded("<f8", "<f2", bytes_of(std::vector{1.0 + 0x1p-11, 1e9})) == from_hex("003c007c"));
  CHECK(decoded("<f8", "<f4", bytes_of(std::vector{0.1})) == bytes_of(std::vector{0.1F}));
  CHECK(decoded("<f8", "<u8", bytes_of(std::vector{0x1p63, -1.0})) ==
        bytes_of(std::vector<std::uint64_t>{std::uint64_t{1} << 63, ~std::uint64_t{0}}));
  // Undefined in C: what x86 makes of it.
  CHECK(decoded("<f8", "<i4", bytes_of(std::vector{std::nan(""), 1e10, -1e10})) ==
        from_hex("000000800000008000000080"));
  CHECK(decoded("<f8", "|u1", bytes_of(std::vector{std::nan(""), 1e10, 257.0})) == from_hex("000001"));
  CHECK(decoded("<f8", "<i8", bytes_of(std::vector{1e30})) == from_hex("0000000000000080"));
}

TEST_CASE("Only casts that keep every number are applied anew") {
  const auto lossless = [](const char* from, const char* to) {
    return code_of([&] { make(cast(from, to).c_str())->require_lossless(); }) == Code::ok;
  };
  CHECK(lossless("<i8", "<i4"));
  CHECK(lossless("<f4", "<i2"));
  CHECK_FALSE(lossless("<i2", "<i4"));
  CHECK_FALSE(lossless("<f4", "<f8"));
  CHECK_FALSE(lossless("<i4", "<f8"));
  const ByteVector numbers = bytes_of(std::vector<std::int16_t>{0, -1, 32767, -32768});
  CHECK(encode(*make(cast("<f4", "<i2").c_str()), numbers) == bytes_of(std::vector{0.0F, -1.0F, 32767.0F, -32768.0F}));
  CHECK(code_of([&] { encode(*make(cast("|i1", "<i2").c_str()), numbers); }) == Code::unsupported);
  // A NaN that signals would come back as a quiet one, and a true that is not 1 as 1.
  CHECK(code_of([&] { encode(*make(cast("<f8", "<f4").c_str()), from_hex("0100a07f")); }) == Code::unsupported);
  CHECK(encode(*make(cast("<f8", "<f4").c_str()), from_hex("0100c07f")).size() == 8);
  CHECK(code_of([&] { encode(*make(cast("|i1", "|b1").c_str()), from_hex("02")); }) == Code::unsupported);
}

TEST_CASE("Delta adds up in its type and wraps around") {
  const auto i2 = make(R"({"id": "delta", "dtype": "<i2"})");
  const ByteVector numbers = bytes_of(std::vector<std::int16_t>{5, 32767, -32768, 0, 100});
  const ByteVector differences = bytes_of(std::vector<std::int16_t>{5, 32762, 1, -32768, 100});
  CHECK(encode(*i2, numbers) == differences);
  CHECK(decode(*i2, differences) == numbers);
  CHECK(decode(*make(R"({"id": "delta", "dtype": ">i2"})"), from_hex("000500010001")) == from_hex("000500060007"));
  // Differences of four bytes that are stored as floats of eight.
  const auto wide = make(R"({"id": "delta", "dtype": "<i4", "astype": "<f8"})");
  const ByteVector far_apart = bytes_of(std::vector<std::int32_t>{-2147483647 - 1, 2147483647, 3});
  CHECK(encode(*wide, far_apart) == bytes_of(std::vector{-2147483648.0, -1.0, -2147483644.0}));
  CHECK(decode(*wide, encode(*wide, far_apart)) == far_apart);
  // Sums of many blocks.
  std::vector<std::uint8_t> ones(5000, 1);
  const ByteVector sums = decode(*make(R"({"id": "delta", "dtype": "<u4", "astype": "|u1"})"), bytes_of(ones));
  CHECK(sums.size() == 20000);
  CHECK(ByteVector(sums.end() - 4, sums.end()) == bytes_of(std::vector<std::uint32_t>{5000}));
}

TEST_CASE("Delta of floats is only decoded, every sum rounded to its type") {
  const auto f4 = make(R"({"id": "delta", "dtype": "<f4"})");
  CHECK(decode(*f4, bytes_of(std::vector{0.1F, 0.2F, 1e8F})) == bytes_of(std::vector{0.1F, 0.1F + 0.2F, 1e8F}));
  CHECK(decode(*make(R"({"id": "delta", "dtype": "<f2"})"), from_hex("003c0010")) == from_hex("003c003c"));
  CHECK(decode(*make(R"({"id": "delta", "dtype": "|b1"})"), from_hex("00010001")) == from_hex("00010101"));
  for (const char* config :
       {R"({"id": "delta", "dtype": "<f4"})", R"({"id": "delta", "dtype": "|b1"})",
        R"({"id": "delta", "dtype": "<i4", "astype": "<i2"})", R"({"id": "delta", "dtype": "<i4", "astype": "<f4"})"}) {
    INFO(config);
    CHECK(code_of([&] { make(config)->require_lossless(); }) == Code::unsupported);
    CHECK(code_of([&] { encode(*make(config), ByteVector(8)); }) == Code::unsupported);
  }
}

TEST_CASE("Scaled numbers are decoded in the precision of numpy") {
  const auto decoded = [](const char* types, const ByteVector& encoded) {
    const std::string config = std::string(R"({"id": "fixedscaleoffset", )") + types + "}";
    CHECK(code_of([&] { make(config.c_str())->require_lossless(); }) == Code::unsupported);
    return decode(*make(config.c_str()), encoded);
  };
  CHECK(decoded(R"("offset": 1000, "scale": 10, "dtype": "<f8", "astype": "|i1")", from_hex("0003")) ==
        bytes_of(std::vector{1000.0, 3.0 / 10 + 1000}));
  CHECK(decoded(R"("offset": 0.5, "scale": 3, "dtype": "<f4", "astype": "<i2")", from_hex("0100")) ==
        bytes_of(std::vector{static_cast<float>(1.0 / 3 + 0.5)}));
  CHECK(decoded(R"("offset": 0.1, "scale": 0.3, "dtype": "<f8", "astype": "<f4")", bytes_of(std::vector{7.0F})) ==
        bytes_of(std::vector{static_cast<double>(7.0F / 0.3F + 0.1F)}));
  CHECK(decoded(R"("offset": 10, "scale": 2, "dtype": "<i4", "astype": "<i2")", from_hex("0300")) ==
        bytes_of(std::vector<std::int32_t>{11}));
}

TEST_CASE("Codecs of numbers refuse what is no whole number of them, and types that are none") {
  const auto codec = make(R"({"id": "delta", "dtype": "<i4", "astype": "<i8"})");
  CHECK(code_of([&] { decode(*codec, ByteVector(15)); }) == Code::corrupt);
  CHECK(code_of([&] { decode(*codec, ByteVector(16), 7); }) == Code::corrupt);
  CHECK(code_of([&] { encode(*codec, ByteVector(5)); }) == Code::unsupported);
  for (const char* type : {"<c8", "<M8[ns]", "|O", "<U3", "nonsense"}) {
    CHECK(code_of([&] { make((std::string(R"({"id": "delta", "dtype": ")") + type + R"("})").c_str()); }) ==
          Code::unsupported);
  }
}

TEST_CASE("Every codec of a chain is bound to what it sees") {
  // Eight bytes become two, and the shuffle after them takes two; without the codec of numbers it takes eight.
  const Json to_i2 = parse_json(R"({"offset": 0, "scale": 1, "dtype": "<f8", "astype": "<i2"})");
  const CodecSpecs specs{find_codec_by_zarr2("fixedscaleoffset")->from_zarr2(to_i2), {"shuffle", {}}};
  CodecChain::Scratch scratch;
  const CodecChain chain(specs, 8);
  CHECK(chain.max_encoded_bytes(32) == 8);
  CHECK(samples::copy(chain.decode(from_hex("0102030400000000"), 32, 0, scratch)) ==
        bytes_of(std::vector{1.0, 2.0, 3.0, 4.0}));
  const CodecSpecs fitted = for_chunk(specs, {{4}, {ElementKind::float_, 8, ByteOrder::little}});
  CHECK(fitted[1].integer("element_bytes", 0) == 2);
  // Its type follows the array where it was not told.
  CHECK(for_chunk(parse_codecs("delta"), {{4}, {ElementKind::int_, 4, ByteOrder::big}})[0].text("dtype", "") == ">i4");
  CHECK(code_of([] {
          for_chunk(parse_codecs("delta"), {{4}, {ElementKind::opaque, 3, ByteOrder::little}});
        }) == Code::unsupported);
}
