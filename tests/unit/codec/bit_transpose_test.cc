#include "codec/bit_transpose.h"

#include <catch2/catch.hpp>

#include "samples.h"

using namespace chunkwise;
using samples::ByteVector;

namespace {

// By the definition, bit by bit.
ByteVector transposed(const ByteVector& source, std::size_t element_bytes) {
  const std::size_t n = source.size() / element_bytes;
  ByteVector target(source.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t bit = 0; bit < 8 * element_bytes; ++bit) {
      const auto value = static_cast<unsigned>(source[i * element_bytes + bit / 8]) >> bit % 8 & 1U;
      target[bit * (n / 8) + i / 8] |= static_cast<std::byte>(value << i % 8);
    }
  }
  return target;
}

}  // namespace

TEST_CASE("Bits are transposed as defined, by every kernel, and back") {
  for (const ShuffleKernel kernel : {ShuffleKernel::portable, ShuffleKernel::sse2, ShuffleKernel::avx2}) {
    if (!shuffle_kernel_available(kernel)) continue;
    for (const std::size_t element_bytes : {1U, 2U, 3U, 4U, 8U, 12U, 16U}) {
      for (const std::size_t n : {0U, 8U, 16U, 24U, 128U, 136U, 1000U, 2048U}) {
        INFO("kernel " << static_cast<int>(kernel) << ", " << n << " elements of " << element_bytes);
        const ByteVector source = samples::noise(n * element_bytes);
        ByteVector target(source.size());
        ByteVector work(source.size());
        transpose_bits(kernel, element_bytes, source, target, work);
        REQUIRE(target == transposed(source, element_bytes));
        ByteVector back(source.size());
        untranspose_bits(kernel, element_bytes, target, back, work);
        REQUIRE(back == source);
      }
    }
  }
}
