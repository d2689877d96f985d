#include "codec/chain.h"

#include <catch2/catch.hpp>

#include <thread>

#include "codec/registry.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;
using samples::code_of;

TEST_CASE("An empty chain hands the chunk through") {
  const CodecChain chain({}, 4);
  CodecChain::Scratch scratch;
  const ByteVector data = samples::noise(100);
  CHECK(chain.empty());
  CHECK(chain.encode(data, scratch).data() == data.data());
  CHECK(chain.decode(data, 100, 0, scratch).data() == data.data());
  CHECK(code_of([&] { chain.decode(data, 99, 0, scratch); }) == Code::corrupt);
  CHECK(code_of([&] { chain.decode(data, 101, 0, scratch); }) == Code::corrupt);
  CHECK(chain.max_stored_bytes(100) == 100);
  CHECK(chain.scratch_need(100).total_bytes() == 100);
}

TEST_CASE("Long chains go through both buffers and stay within the bounds") {
  const ByteVector data = samples::smooth_field(10000);
  for (const char* text : {"deflate", "shuffle,deflate", "shuffle,zstd,crc32c", "shuffle,deflate,fletcher32",
                           "lz4,zstd,gzip", "fletcher32,crc32c,blosc", "shuffle,shuffle,shuffle,shuffle"}) {
    const CodecChain chain(parse_codecs(text), 4);
    CodecChain::Scratch scratch;
    INFO(text);
    const ByteVector encoded = samples::copy(chain.encode(data, scratch));
    CHECK(encoded.size() <= chain.max_encoded_bytes(data.size()));
    CHECK(chain.max_encoded_bytes(data.size()) < chain.max_stored_bytes(data.size()));
    CHECK(scratch.a.capacity() + scratch.b.capacity() <= chain.scratch_need(data.size()).total_bytes() + 2 * 4096);
    CHECK(samples::copy(chain.decode(encoded, data.size(), 0, scratch)) == data);
    CHECK(scratch.a.capacity() + scratch.b.capacity() <= 2 * (chain.max_stored_bytes(data.size()) + 4096));  // pages
    CHECK(code_of([&] { chain.decode(encoded, data.size() - 4, 0, scratch); }) == Code::corrupt);
    CHECK(code_of([&] { chain.decode(encoded, data.size() + 4, 0, scratch); }) == Code::corrupt);
    CHECK(code_of([&] { chain.decode({}, data.size(), 0, scratch); }) == Code::corrupt);
  }
}

TEST_CASE("Codecs in the skip mask are left out") {
  const ByteVector data = samples::smooth_field(1000);
  const CodecSpecs specs = parse_codecs("shuffle,deflate,fletcher32");
  const CodecChain chain(specs, 4);
  CodecChain::Scratch scratch;
  for (std::uint32_t skipped = 0; skipped < 8; ++skipped) {
    CodecSpecs applied;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if ((skipped >> i & 1U) == 0) applied.push_back(specs[i]);
    }
    const ByteVector encoded = samples::copy(CodecChain(applied, 4).encode(data, scratch));
    CHECK(samples::copy(chain.decode(encoded, data.size(), skipped, scratch)) == data);
  }
  CHECK(samples::copy(chain.decode(data, data.size(), 0xFFFFFFFF, scratch)) == data);
}

TEST_CASE("Sizes between the codecs are bounded") {
  // A bomb inside: 64 MiB of zeros behind a second compressor.
  const ByteVector zeros(std::size_t{64} << 20);
  const CodecChain chain(parse_codecs("zstd,zstd"), 4);
  CodecChain::Scratch scratch;
  const ByteVector bomb = samples::copy(chain.encode(zeros, scratch));
  CodecChain::Scratch fresh;
  CHECK(code_of([&] { chain.decode(bomb, 1000, 0, fresh); }) == Code::corrupt);
  CHECK(fresh.a.capacity() + fresh.b.capacity() < std::size_t{1} << 20);
}

TEST_CASE("Chains that cannot be are refused") {
  CHECK(code_of([] { CodecChain(CodecSpecs(33, {"shuffle", {}}), 4); }) == Code::corrupt);
  const CodecChain chain(parse_codecs("zstd"), 4);
  CHECK(code_of([&] { chain.max_encoded_bytes(SIZE_MAX); }) == Code::corrupt);
}

TEST_CASE("One chain serves several threads") {
  const ByteVector data = samples::smooth_field(20000);
  for (const char* text :
       {"shuffle,deflate:1", "deflate:6", "gzip", "zstd", "lz4", "blosc", "blosc:zlib", "blosc:blosclz"}) {
    const CodecChain chain(parse_codecs(text), 4);
    CodecChain::Scratch scratch;
    const ByteVector expected = samples::copy(chain.encode(data, scratch));
    std::vector<int> failures(4, 0);
    std::vector<std::thread> threads;
    for (int& failed : failures) {
      threads.emplace_back([&] {
        CodecChain::Scratch own;
        for (int i = 0; i < 10; ++i) {
          if (samples::copy(chain.encode(data, own)) != expected) ++failed;
          if (samples::copy(chain.decode(expected, data.size(), 0, own)) != data) ++failed;
        }
      });
    }
    for (std::thread& each : threads) each.join();
    INFO(text);
    CHECK(failures == std::vector<int>(4, 0));
  }
}

TEST_CASE("The same chunk always gives the same bytes, whatever was encoded before") {
  const ByteVector data = samples::smooth_field(20000);
  const ByteVector other = samples::noise(333333);
  for (const char* text : {"deflate:1", "deflate:5", "gzip:1", "zstd:1", "zstd:9", "lz4", "blosc"}) {
    const CodecChain chain(parse_codecs(text), 4);
    CodecChain::Scratch scratch;
    const ByteVector first = samples::copy(chain.encode(data, scratch));
    chain.encode(other, scratch);
    INFO(text);
    CHECK(samples::copy(chain.encode(data, scratch)) == first);
  }
}

TEST_CASE("A chunk that does not say how large it is decodes up to a limit") {
  const ByteVector data = samples::smooth_field(1000);
  for (const char* text :
       {"none", "deflate", "gzip", "zstd", "blosc", "lz4", "bz2", "crc32c", "zstd,crc32c", "gzip,blosc"}) {
    const CodecChain chain(parse_codecs(text), 1);
    CodecChain::Scratch scratch;
    INFO(text);
    const ByteVector encoded = samples::copy(chain.encode(data, scratch));
    const auto decoded = chain.decode_at_most(encoded, data.size() + 777, scratch);
    REQUIRE(decoded);
    CHECK(samples::copy(*decoded) == data);
    CHECK(chain.decode_at_most(encoded, data.size(), scratch));
    CHECK_FALSE(chain.decode_at_most(encoded, data.size() - 1, scratch));
    if (chain.empty()) continue;
    ByteVector damaged = encoded;
    damaged.resize(damaged.size() / 2);
    CHECK(code_of([&] { chain.decode_at_most(damaged, data.size(), scratch); }) == Code::corrupt);
  }
}
