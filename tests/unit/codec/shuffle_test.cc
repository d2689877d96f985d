#include "codec/shuffle.h"

#include <catch2/catch.hpp>

#include "codec/chain.h"
#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;

namespace {

// The definition, one byte at a time.
ByteVector by_definition(const ByteVector& source, std::size_t element_bytes) {
  ByteVector target = source;
  const std::size_t n = source.size() / element_bytes;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < element_bytes; ++j) target[j * n + i] = source[i * element_bytes + j];
  }
  return target;
}

}  // namespace

TEST_CASE("Every shuffle kernel gives what the definition gives, and undoes it") {
  const ShuffleKernel kernel = GENERATE(ShuffleKernel::portable, ShuffleKernel::sse2, ShuffleKernel::avx2);
  if (!shuffle_kernel_available(kernel)) {
    WARN("this machine cannot run kernel " << static_cast<int>(kernel));
    return;
  }
  for (std::size_t element_bytes = 1; element_bytes <= 17; ++element_bytes) {
    for (const std::size_t n : {0U, 1U, 2U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 100U, 255U, 256U, 257U, 1000U}) {
      for (const std::size_t extra : {std::size_t{0}, std::size_t{1}, element_bytes - 1}) {
        const ByteVector source = samples::noise(n * element_bytes + extra, static_cast<std::uint32_t>(n + 1));
        // Guards on both sides catch a store outside the target.
        ByteVector guarded(source.size() + 64, std::byte{0xA5});
        const MutableByteView target = std::span(guarded).subspan(32, source.size());
        shuffle_bytes(kernel, element_bytes, source, target);
        INFO("element_bytes " << element_bytes << " n " << n << " extra " << extra);
        REQUIRE(samples::copy(target) == by_definition(source, element_bytes));
        ByteVector back(source.size());
        unshuffle_bytes(kernel, element_bytes, target, back);
        REQUIRE(back == source);
        for (std::size_t i = 0; i < 32; ++i) {
          REQUIRE(guarded[i] == std::byte{0xA5});
          REQUIRE(guarded[32 + source.size() + i] == std::byte{0xA5});
        }
      }
    }
  }
}

TEST_CASE("Shuffle without a parameter takes the element size of the array") {
  const ByteVector source = samples::noise(64);
  CodecChain::Scratch scratch;
  const CodecChain from_array({{"shuffle", {}}}, 8);
  const CodecChain from_parameter({{"shuffle", {{"element_bytes", std::int64_t{4}}}}}, 8);
  CHECK(samples::copy(from_array.encode(source, scratch)) == by_definition(source, 8));
  CHECK(samples::copy(from_parameter.encode(source, scratch)) == by_definition(source, 4));
}

TEST_CASE("Impossible element sizes are refused") {
  CHECK(samples::code_of([] { CodecChain({{"shuffle", {{"element_bytes", std::int64_t{0}}}}}, 4); }) == Code::corrupt);
  CHECK(samples::code_of([] { CodecChain({{"shuffle", {{"element_bytes", std::int64_t{-4}}}}}, 4); }) == Code::corrupt);
}
