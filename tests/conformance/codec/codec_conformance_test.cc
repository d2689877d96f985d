// What every codec of the registry must do, whatever it is.
#include <catch2/catch.hpp>

#include <algorithm>

#include "../../unit/codec/samples.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;

namespace {

struct Input {
  const char* name;
  ByteVector bytes;
};

ByteVector booleans(std::size_t n) {
  ByteVector bytes = samples::noise(n);
  for (std::byte& each : bytes) each &= std::byte{1};
  return bytes;
}

const std::vector<Input>& inputs() {
  static const std::vector<Input> all = {
      {"empty", {}},
      {"one byte", samples::noise(1)},
      {"three bytes", samples::noise(3)},
      {"odd size", samples::noise(1021)},
      {"constant", ByteVector(50001, std::byte{42})},
      {"noise", samples::noise(70000)},
      {"noise of a block and a bit", samples::noise(65537)},
      {"smooth field", samples::smooth_field(30000)},
      {"booleans", booleans(40003)},
      {"smooth field, odd end",
       [] {
         ByteVector bytes = samples::smooth_field(5000);
         bytes.resize(bytes.size() - 3);
         return bytes;
       }()},
  };
  return all;
}

// Every codec that can be asked for with its default parameters, and those whose behaviour depends on them in a few
// more ways. Most that cannot be asked for have tests of their own.
std::vector<CodecSpec> specs_under_test() {
  std::vector<CodecSpec> specs;
  for (const CodecRow& row : codec_rows()) {
    if (row.parse != nullptr) specs.push_back(row.parse({}));
  }
  for (const char* text : {"deflate:0",
                           "deflate:2",
                           "deflate:6",
                           "deflate:9",
                           "gzip:0",
                           "gzip:5",
                           "zstd:-3",
                           "zstd:0",
                           "zstd:9",
                           "zstd:3:checksum",
                           "lz4:10",
                           "hdf5-lz4:1",
                           "hdf5-lz4:1000",
                           "blosc:blosclz:5:noshuffle",
                           "blosc:lz4:1:bitshuffle",
                           "blosc:lz4hc:9:shuffle",
                           "blosc:zlib:1:auto",
                           "blosc:zstd:0",
                           "bz2:1",
                           "bitshuffle:none",
                           "bitshuffle:zstd",
                           "szip:ec:8",
                           "szip:nn:2",
                           "lzma:0",
                           "lzma:9"}) {
    specs.push_back(parse_codecs(text).front());
  }
  for (const char* config :
       {R"({"id": "lzma", "format": 2})", R"({"id": "lzma", "format": 3, "filters": [{"id": 33, "preset": 1}]})",
        R"({"id": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33}]})",
        R"({"id": "lzma", "format": 3, "filters": [{"id": 4611686018427387905}]})", R"({"id": "lzma", "check": 10})",
        R"({"id": "crc32", "location": "end"})", R"({"id": "crc32c", "location": "start"})",
        R"({"id": "jenkins_lookup3", "initval": 7})", R"({"id": "delta", "dtype": ">i2"})",
        R"({"id": "delta", "dtype": "<u2", "astype": "<i4"})", R"({"id": "delta", "dtype": "<i4", "astype": "<f8"})",
        R"({"id": "astype", "encode_dtype": ">i8", "decode_dtype": "<i4"})", R"({"id": "bitround", "keepbits": 7})"}) {
    const Json json = parse_json(config);
    specs.push_back(find_codec_by_zarr2(json.at("id").get<std::string>())->from_zarr2(json));
  }
  return specs;
}

// Calls `check` with the codec for elements of 1, 2, 4 and 8 bytes.
template <typename Check>
void for_each_codec(Check check) {
  for (const CodecSpec& spec : specs_under_test()) {
    for (const std::size_t element_bytes : {1U, 2U, 4U, 8U}) {
      INFO(to_string({spec}) << " for elements of " << element_bytes << " bytes");
      check(*find_codec(spec.name)->bind(spec, element_bytes), spec);
    }
  }
}

// False if the codec says that it takes no such sizes: some want whole elements, and enough of them; or no such values.
bool encodes(const Codec& codec, const CodecSpec& spec, const ByteVector& bytes, Bytes& encoded) {
  try {
    codec.encode(bytes, encoded);
    return true;
  } catch (const Error& error) {
    REQUIRE(error.code() == Code::unsupported);
    if (spec.name == "packbits") {
      REQUIRE(std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; }));
      return false;
    }
    // What can be left out for its size must say so; HDF5's filters get nothing but whole chunks.
    REQUIRE(!codec.encode_or_skip(bytes, encoded));
    REQUIRE((bytes.size() % 8 != 0 || bytes.size() < 32 * 8));
    return false;
  }
}

// Damaged input either is found out or gives data within the limit; nothing else may happen.
void require_safe(const Codec& codec, const ByteVector& damaged, std::size_t limit, Bytes& decoded) {
  try {
    codec.decode(damaged, limit, decoded);
    REQUIRE(decoded.size() <= limit);
  } catch (const Error& error) {
    // Blosc names compressors it was built without.
    REQUIRE((error.code() == Code::corrupt || error.code() == Code::unsupported));
  }
}

}  // namespace

TEST_CASE("Codecs give back what they were given, within their bound") {
  for_each_codec([](const Codec& codec, const CodecSpec& spec) {
    Bytes encoded;
    Bytes decoded;
    for (const Input& input : inputs()) {
      INFO(input.name);
      if (!encodes(codec, spec, input.bytes, encoded)) continue;
      const std::size_t bound = codec.max_encoded_bytes(input.bytes.size());
      REQUIRE(encoded.size() <= bound);
      if (codec.fixed_size()) REQUIRE(encoded.size() == bound);
      codec.decode(encoded, input.bytes.size(), decoded);
      REQUIRE(samples::copy(decoded) == input.bytes);
      // A limit with room to spare changes nothing.
      codec.decode(encoded, input.bytes.size() + 1000, decoded);
      REQUIRE(samples::copy(decoded) == input.bytes);
    }
  });
}

TEST_CASE("Codecs never pass the limit, however much a chunk would decode to") {
  const ByteVector zeros(1 << 20);
  for_each_codec([&](const Codec& codec, [[maybe_unused]] const CodecSpec& spec) {
    Bytes encoded;
    codec.encode(zeros, encoded);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, zeros.size() - 1}) {
      Bytes decoded;
      REQUIRE(code_of([&] { codec.decode(encoded, limit, decoded); }) == Code::corrupt);
      REQUIRE(decoded.capacity() <= limit + 65536);
    }
  });
}

TEST_CASE("Codecs survive input that ends early") {
  for_each_codec([](const Codec& codec, const CodecSpec& spec) {
    Bytes encoded;
    Bytes decoded;
    for (const Input& input : inputs()) {
      if (!encodes(codec, spec, input.bytes, encoded)) continue;
      const std::size_t step = std::max<std::size_t>(1, encoded.size() / 23);
      for (std::size_t size = 0; size < encoded.size(); size += size < 24 ? 1 : step) {
        // A copy of its own, so that a sanitizer sees any read beyond the end.
        const ByteVector cut(encoded.data(), encoded.data() + size);
        require_safe(codec, cut, input.bytes.size(), decoded);
      }
    }
  });
}

TEST_CASE("Codecs survive flipped bits and noise") {
  std::mt19937 random(3);
  for_each_codec([&](const Codec& codec, [[maybe_unused]] const CodecSpec& spec) {
    Bytes encoded;
    Bytes decoded;
    for (const Input& input : inputs()) {
      if (!encodes(codec, spec, input.bytes, encoded)) continue;
      if (encoded.empty()) continue;
      for (int trial = 0; trial < 40; ++trial) {
        ByteVector damaged = samples::copy(encoded);
        // Half of the flips hit the header.
        const std::size_t span = trial % 2 == 0 ? std::min<std::size_t>(32, damaged.size()) : damaged.size();
        damaged[random() % span] ^= static_cast<std::byte>(1U << random() % 8);
        require_safe(codec, damaged, input.bytes.size(), decoded);
      }
    }
    for (std::size_t size = 0; size < 200; ++size) {
      require_safe(codec, samples::noise(size, static_cast<std::uint32_t>(size)), 5000, decoded);
    }
  });
}

TEST_CASE("Every spelling of a codec leads back to it") {
  constexpr std::size_t kElementBytes = 4;
  for (const CodecSpec& spec : specs_under_test()) {
    const ByteVector data = spec.name == "packbits" ? booleans(12000) : samples::smooth_field(3000);
    const CodecRow& row = *find_codec(spec.name);
    INFO(to_string({spec}));
    CodecChain::Scratch scratch;
    const ByteVector encoded = samples::copy(CodecChain({spec}, kElementBytes).encode(data, scratch));
    // The same parameters: the same bytes again, and readable.
    const auto check = [&](const CodecSpec& again, bool same_bytes) {
      CHECK(again.name == spec.name);
      const CodecChain chain({again}, kElementBytes);
      CHECK(samples::copy(chain.decode(encoded, data.size(), 0, scratch)) == data);
      if (same_bytes) CHECK(samples::copy(chain.encode(data, scratch)) == encoded);
    };
    // Some parameters exist only in files.
    if (row.parse != nullptr && parse_codecs(row.print(spec)).front() == spec) {
      check(parse_codecs(row.print(spec)).front(), true);
    } else if (row.parse != nullptr) {
      CHECK(spec != row.parse({}));
    }
    if (row.hdf5_filter != 0) {
      CHECK(find_codec_by_hdf5(row.hdf5_filter) == &row);
      // HDF5's zstd filter has no parameter for the checksum.
      check(row.from_hdf5(row.to_hdf5(spec, kElementBytes, data.size())), !spec.params.contains("checksum"));
    }
    if (!row.zarr2_id.empty()) {
      const Json config = row.to_zarr2(spec, kElementBytes);
      CHECK(config.at("id") == row.zarr2_id);
      CHECK(find_codec_by_zarr2(row.zarr2_id) == &row);
      check(row.from_zarr2(parse_json(dump_json(config))), true);
    }
    if (!row.zarr3_name.empty()) {
      const Json configuration = row.to_zarr3(spec, kElementBytes);
      CHECK(configuration.is_object());
      CHECK(find_codec_by_zarr3(row.zarr3_name) == &row);
      check(row.from_zarr3(parse_json(dump_json(configuration))), true);
    }
  }
}

TEST_CASE("Rows are complete and their names unique") {
  std::vector<std::string_view> names;
  for (const CodecRow& row : codec_rows()) {
    INFO(row.name);
    CHECK(row.usage.starts_with(row.name));
    CHECK_FALSE(row.summary.empty());
    CHECK((row.hdf5_filter != 0) == (row.from_hdf5 != nullptr && row.to_hdf5 != nullptr));
    CHECK(!row.zarr2_id.empty() == (row.from_zarr2 != nullptr && row.to_zarr2 != nullptr));
    CHECK(!row.zarr3_name.empty() == (row.from_zarr3 != nullptr && row.to_zarr3 != nullptr));
    CHECK(row.bind != nullptr);
    CHECK(row.print != nullptr);
    names.push_back(row.name);
    if (!row.alias.empty()) names.push_back(row.alias);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("Metadata that makes no sense is corrupt") {
  for (const CodecRow& row : codec_rows()) {
    for (const auto from : {row.from_zarr2, row.from_zarr3}) {
      if (from == nullptr) continue;
      for (const char* text : {"{}",
                               "null",
                               "[]",
                               "7",
                               R"({"level": "high"})",
                               R"({"level": 1e9})",
                               R"({"level": 9223372036854775808})",
                               R"({"elementsize": -1})",
                               R"({"cname": 5})",
                               R"({"cname": "lzo"})",
                               R"({"shuffle": "twice"})",
                               R"({"shuffle": 7})",
                               R"({"typesize": -3})",
                               R"({"blocksize": 1e300})",
                               R"({"acceleration": []})",
                               R"({"location": "middle"})",
                               R"({"dtype": 3})",
                               R"({"scale": "1", "offset": []})",
                               R"({"labels": [1]})",
                               R"({"format": 4})",
                               R"({"format": 3})",
                               R"({"preset": 10})",
                               R"({"filters": []})",
                               R"({"filters": [{"id": 33}, {"id": 33}]})",
                               R"({"filters": [{"id": 3, "dist": 257}]})",
                               R"({"filters": 7})",
                               R"({"initval": 4294967296})",
                               R"({"digits": 0.5})",
                               R"({"keepbits": -1})",
                               R"({"first_bit": 64})",
                               R"({"padding_encoding": "middle"})"}) {
        INFO(row.name << " " << text);
        const Json config = parse_json(text);
        const Code code = code_of([&] { from(config); });
        CHECK((code == Code::ok || code == Code::corrupt));
      }
    }
    if (row.from_hdf5 == nullptr) continue;
    for (const std::vector<unsigned>& cd : std::vector<std::vector<unsigned>>{{},
                                                                              {0},
                                                                              {0xFFFFFFFF},
                                                                              {2, 2, 0xFFFFFFFF, 4, 5, 1, 0},
                                                                              {2, 2, 4, 4, 99, 1, 0},
                                                                              {2, 2, 4, 4, 5, 9, 0},
                                                                              {2, 2, 4, 4, 5, 1, 9}}) {
      const Code code = code_of([&] { row.from_hdf5(cd); });
      CHECK((code == Code::ok || code == Code::corrupt));
    }
  }
}
