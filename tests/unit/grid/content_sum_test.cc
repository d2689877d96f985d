#include "grid/content_sum.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "grid/chunk_grid.h"

using namespace chunkwise;

namespace {

/// Sums an array by chunks that are copied out of it first, in any layout.
std::uint64_t by_chunks(const ContentSum& sum, const Box& array, ElementSize element,
                        const std::vector<std::byte>& data, const Shape& chunk, const ElementLayout& layout) {
  const ChunkGrid grid(array.shape, chunk);
  std::uint64_t total = 0;
  for (Index i = 0; i < grid.n_chunks(); ++i) {
    const Box full = grid.full_box(ChunkId{i});
    const Box part = grid.box(ChunkId{i});
    std::vector<std::byte> buffer(static_cast<std::size_t>(product(full.shape)) * element.bytes, std::byte{0x5a});
    copy_box({array, {}, full, layout, part, element}, data.data(), buffer.data());
    total += sum.of(part, full, layout, buffer.data());
  }
  return total;
}

}  // namespace

TEST_CASE("a content sum does not depend on cuts, axes or byte order") {
  std::mt19937_64 random(3);
  for (const ElementSize element : {ElementSize{1, 1}, ElementSize{2, 2}, ElementSize{4, 4}, ElementSize{8, 8},
                                    ElementSize{16, 8}, ElementSize{11, 1}, ElementSize{16, 16}}) {
    const Box array = whole({7, 5, 9});
    std::vector<std::byte> data(static_cast<std::size_t>(product(array.shape)) * element.bytes);
    for (std::byte& byte : data) byte = static_cast<std::byte>(random());
    const std::vector<std::byte> fill(element.bytes, std::byte{7});
    const ContentSum sum(array.shape, element, fill, ByteOrder::little);
    const std::uint64_t all = sum.of(array, array, {}, data.data());
    CHECK(all != 0);
    for (const Shape& chunk : {Shape{7, 5, 9}, Shape{1, 1, 1}, Shape{3, 2, 4}, Shape{8, 5, 1}})
      for (const Shape& axes : {Shape{}, Shape{2, 1, 0}, Shape{1, 0, 2}})
        for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
          CHECK(by_chunks(sum, array, element, data, chunk, {axes, order}) == all);
    // Every single bit counts.
    for (int i = 0; i < 200; ++i) {
      const std::size_t byte = random() % data.size();
      const auto bit = static_cast<std::byte>(1U << random() % 8);
      data[byte] ^= bit;
      CHECK(sum.of(array, array, {}, data.data()) != all);
      data[byte] ^= bit;
    }
  }
}

TEST_CASE("elements that change places change the content sum") {
  const Box array = whole({64});
  std::vector<double> values(64);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 2 == 0 ? 1.5 : -1.5;  // differ in the highest bit alone
  const ContentSum sum(array.shape, {8, 8}, {}, kNativeOrder);
  const auto of = [&] {
    return sum.of(array, array, {{}, kNativeOrder}, reinterpret_cast<const std::byte*>(values.data()));
  };
  const std::uint64_t all = of();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    std::swap(values[i], values[i + 1]);
    CHECK(of() != all);
    std::swap(values[i], values[i + 1]);
  }
}

TEST_CASE("the fill adds nothing to a content sum") {
  const Box array = whole({3, 4});
  const std::uint16_t fill = 0x1234;
  std::vector<std::uint16_t> values(12, fill);
  const auto bytes = std::as_bytes(std::span(&fill, 1));
  const ContentSum sum(array.shape, {2, 2}, bytes, kNativeOrder);
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  CHECK(sum.of(array, array, {{}, kNativeOrder}, data) == 0);
  values[5] = 1;
  CHECK(sum.of(array, array, {{}, kNativeOrder}, data) != 0);
  CHECK(sum.of({{1, 1}, {1, 1}}, array, {{}, kNativeOrder}, data) == sum.of(array, array, {{}, kNativeOrder}, data));
}
