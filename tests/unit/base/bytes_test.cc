#include "base/bytes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "throws_code.h"

namespace chunkwise {
namespace {

// Sizes on both sides of where blocks come straight from the system.
constexpr std::size_t kSmall = 1000;
constexpr std::size_t kLarge = std::size_t{3} << 20;

void number(Bytes& bytes, std::size_t from) {
  for (std::size_t i = from; i < bytes.size(); ++i) bytes.data()[i] = static_cast<std::byte>(i * 7 + i / 251);
}

bool is_numbered(const Bytes& bytes, std::size_t size_bytes) {
  for (std::size_t i = 0; i < size_bytes; ++i) {
    if (bytes.data()[i] != static_cast<std::byte>(i * 7 + i / 251)) return false;
  }
  return true;
}

TEST_CASE("Bytes keep their content when they grow and shrink") {
  Bytes bytes;
  CHECK(bytes.empty());
  std::size_t before = 0;
  for (const std::size_t size_bytes : {std::size_t{1}, kSmall, kLarge, kLarge + 1, 4 * kLarge, kSmall, kLarge}) {
    bytes.resize(size_bytes);
    REQUIRE(bytes.size() == size_bytes);
    REQUIRE(bytes.capacity() >= size_bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(bytes.data()) % 64 == 0);
    REQUIRE(is_numbered(bytes, std::min(before, size_bytes)));
    number(bytes, std::min(before, size_bytes));
    before = size_bytes;
  }
}

TEST_CASE("Shrinking keeps the block, release gives it back") {
  for (const std::size_t size_bytes : {kSmall, kLarge}) {
    Bytes bytes(size_bytes);
    const std::byte* const block = bytes.data();
    bytes.resize(10);
    bytes.resize_discard(size_bytes);
    CHECK(bytes.data() == block);
    bytes.resize(0);
    CHECK(bytes.empty());
    CHECK(bytes.capacity() >= size_bytes);
    bytes.release();
    CHECK(bytes.data() == nullptr);
    CHECK(bytes.capacity() == 0);
    bytes.resize_discard(3);
    CHECK(bytes.size() == 3);
  }
}

TEST_CASE("Bytes move and leave nothing behind") {
  for (const std::size_t size_bytes : {kSmall, kLarge}) {
    Bytes first(size_bytes);
    number(first, 0);
    const std::byte* const block = first.data();
    Bytes second(std::move(first));
    CHECK(second.data() == block);
    Bytes third(5);
    third = std::move(second);
    CHECK(third.data() == block);
    CHECK(is_numbered(third, size_bytes));
    Bytes& same = third;
    third = std::move(same);
    CHECK(third.size() == size_bytes);
    const Bytes copy = Bytes::copy_of(third);
    CHECK(std::equal(copy.view().begin(), copy.view().end(), third.view().begin(), third.view().end()));
    CHECK(copy.data() != third.data());
  }
  CHECK(Bytes::copy_of({}).empty());
}

TEST_CASE("Impossible sizes are a matter of memory") {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size_bytes : {kMost, kMost / 2 + 1, kMost / 4}) {
    Bytes small(10);
    number(small, 0);
    REQUIRE_ERROR(small.resize(size_bytes), Code::budget, "memory");
    CHECK(is_numbered(small, 10));
    Bytes large(kLarge);
    number(large, 0);
    REQUIRE_ERROR(large.resize(size_bytes), Code::budget, "memory");
    CHECK(is_numbered(large, kLarge));
    REQUIRE_ERROR(large.resize_discard(size_bytes), Code::budget, "memory");
    CHECK(large.empty());
  }
}

TEST_CASE("Text and bytes are views of each other") {
  CHECK(as_text(as_bytes("zarr")) == "zarr");
  CHECK(as_bytes("").empty());
}

}  // namespace
}  // namespace chunkwise
