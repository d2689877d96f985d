#include "array/shard_index.h"

#include <catch2/catch.hpp>

#include <limits>

#include "../base/throws_code.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

ShardLevel level_of(const Shape& shape) {
  ShardLevel level;
  level.shape = shape;
  return level;
}

Bytes stored(const ShardIndexForm& form, const std::vector<ShardEntry>& entries) {
  CodecChain::Scratch scratch;
  return Bytes::copy_of(form.encode(entries, scratch));
}

TEST_CASE("An index has an entry for each part, in C order of its axes") {
  ShardLevel level = level_of({4, 6, 10});
  const ShardIndexForm plain(level, {2, 2, 5});
  CHECK(plain.counts() == Shape{2, 3, 2});
  CHECK(plain.n_parts() == 12);
  CHECK(plain.stored_bytes() == 192);
  CHECK(plain.position({1, 2, 1}) == 11);
  CHECK(plain.position({1, 0, 1}) == 7);
  level.index_axes = {2, 0, 1};  // axis 2 varies slowest
  level.index_codecs = {CodecSpec{"crc32c", {}}};
  const ShardIndexForm turned(level, {2, 2, 5});
  CHECK(turned.stored_bytes() == 196);
  CHECK(turned.position({0, 0, 1}) == 6);
  CHECK(turned.position({1, 0, 0}) == 3);
  CHECK(turned.position({0, 1, 0}) == 1);
}

TEST_CASE("A shard of a scalar holds one chunk") {
  const ShardIndexForm form(level_of({}), {});
  CHECK(form.n_parts() == 1);
  CHECK(form.position({}) == 0);
}

TEST_CASE("Numbers are stored least significant byte first, or most") {
  ShardLevel level = level_of({2});
  const ShardIndexForm little(level, {1});
  level.index_order = ByteOrder::big;
  const ShardIndexForm big(level, {1});
  const std::vector<ShardEntry> entries{{0x0102, 0x0a}, {}};
  const Bytes a = stored(little, entries);
  const Bytes b = stored(big, entries);
  const std::string absent(16, '\xff');
  CHECK(as_text(a) == std::string("\x02\x01\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0", 16) + absent);
  CHECK(as_text(b) == std::string("\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\x0a", 16) + absent);
  CodecChain::Scratch scratch;
  CHECK(little.decode(a, scratch) == entries);
  CHECK(big.decode(b, scratch) == entries);
  CHECK(little.decode(a, scratch)[1].absent());
}

TEST_CASE("A checksum that does not fit is noticed") {
  ShardLevel level = level_of({3});
  level.index_codecs = {CodecSpec{"crc32c", {}}};
  const ShardIndexForm form(level, {1});
  Bytes index = stored(form, {{0, 5}, {5, 7}, {}});
  REQUIRE(index.size() == 52);
  CodecChain::Scratch scratch;
  CHECK(form.decode(index, scratch)[1] == ShardEntry{5, 7});
  index.data()[20] ^= std::byte{1};
  REQUIRE_ERROR(form.decode(index, scratch), Code::corrupt, "crc32c");
}

TEST_CASE("Entries must lie inside the shard and outside its index") {
  ShardLevel level = level_of({4});
  const ShardIndexForm at_end(level, {1});  // 64 bytes
  level.index_at_start = true;
  const ShardIndexForm at_start(level, {1});
  CHECK(at_end.place(100) == 36);
  CHECK(at_start.place(100) == 0);
  CHECK(at_end.first_part() == 0);
  CHECK(at_start.first_part() == 64);
  REQUIRE_ERROR(at_end.place(63), Code::corrupt, "less than its index of 64");

  at_end.check({}, 100);
  at_end.check({0, 36}, 100);
  at_end.check({36, 0}, 100);
  REQUIRE_ERROR(at_end.check({0, 37}, 100), Code::corrupt, "inside the index");
  REQUIRE_ERROR(at_end.check({90, 11}, 100), Code::corrupt, "beyond its end");
  REQUIRE_ERROR(at_end.check({101, 0}, 100), Code::corrupt, "beyond its end");
  at_start.check({64, 36}, 100);
  REQUIRE_ERROR(at_start.check({63, 2}, 100), Code::corrupt, "inside the index");
  REQUIRE_ERROR(at_start.check({0, 1}, 100), Code::corrupt, "inside the index");
  for (const ShardEntry& entry : {ShardEntry{kMax - 1, 4}, ShardEntry{2, kMax - 1}, ShardEntry{kMax, 0},
                                  ShardEntry{0, kMax}, ShardEntry{kMax - 1, kMax - 1}}) {
    CHECK_FALSE(entry.absent());
    REQUIRE_ERROR(at_end.check(entry, 100), Code::corrupt, "beyond its end");
  }
}

TEST_CASE("Shards that are no whole chunks, or have too many, are refused") {
  REQUIRE_ERROR(ShardIndexForm(level_of({10, 10}), Shape{5, 4}), Code::corrupt, "10 is no multiple of 4");
  REQUIRE_ERROR(ShardIndexForm(level_of({1 << 20, 1 << 20}), Shape{1, 1}), Code::unsupported, "index of more than");
  REQUIRE_ERROR(ShardIndexForm(level_of({Index{1} << 40, Index{1} << 40}), Shape{1, 1}), Code::unsupported,
                "index of more than");
}

}  // namespace
}  // namespace chunkwise
