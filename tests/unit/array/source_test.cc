#include "array/source.h"

#include <catch2/catch.hpp>

#include <numeric>

#include "array/hierarchy.h"

namespace chunkwise {
namespace {

// A contiguous array of i4 0, 1, 2, ... that hands out its rows merged or each in a block of its own.
class Ramp final : public ArraySource {
 public:
  Ramp(const Shape& shape, const Shape& chunk, bool merged) : ArraySource(make_meta(shape, chunk)), merged_(merged) {}

  ChunkRef locate(ChunkId id) const override {
    const auto [first, count] = range(id);
    return StoredAt{100 + first * 4, count * 4, 0};
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    std::size_t total = 0;
    for (const ChunkId id : ids) total += range(id).second;
    Bytes all(total * 4);
    std::size_t at = 0;
    for (const ChunkId id : ids) {
      const auto [first, count] = range(id);
      Bytes own(merged_ ? 0 : count * 4);
      std::byte* out = merged_ ? all.data() + at * 4 : own.data();
      std::iota(reinterpret_cast<std::int32_t*>(out), reinterpret_cast<std::int32_t*>(out) + count,
                static_cast<std::int32_t>(first));
      batch.chunks.push_back({{out, count * 4}, 0, false});
      at += count;
      if (!merged_) batch.blocks.push_back(std::move(own));
    }
    if (merged_) batch.blocks.push_back(std::move(all));
  }

 private:
  static ArrayMeta make_meta(const Shape& shape, const Shape& chunk) {
    ArrayMeta meta;
    meta.path = "/ramp";
    meta.dtype = *parse_dtype("i4");
    meta.shape = meta.max_shape = shape;
    meta.chunk = chunk;
    meta.storage = Storage::contiguous;
    meta.pads_edges = false;
    return meta;
  }

  std::pair<std::uint64_t, std::uint64_t> range(ChunkId id) const {
    const Box box = grid_.box(id);
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    for (int axis = 0; axis < box.shape.rank(); ++axis) {
      first = first * static_cast<std::uint64_t>(grid_.array()[axis]) + static_cast<std::uint64_t>(box.origin[axis]);
      count *= static_cast<std::uint64_t>(box.shape[axis]);
    }
    return {first, count};
  }

  bool merged_;
};

TEST_CASE("A contiguous array reads the same however it is cut") {
  const Shape shape{5, 6, 7};
  const std::vector<Shape> cuts{{1, 1, 1}, {1, 1, 3}, {1, 1, 7}, {1, 4, 7}, {1, 6, 7}, {2, 6, 7}, {5, 6, 7}, {9, 6, 7}};
  for (const bool merged : {true, false}) {
    for (const Shape& source_cut : cuts) {
      const Ramp source(shape, source_cut, merged);
      for (const Shape& cut : cuts) {
        const auto recut = cut_linear(source, cut);
        std::vector<ChunkId> ids;
        for (Index i = recut->grid().n_chunks() - 1; i >= 0; --i) ids.push_back(ChunkId{i});
        ReadBatch batch;
        recut->read(ids, batch);
        REQUIRE(batch.chunks.size() == ids.size());
        std::int32_t next = 5 * 6 * 7;
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const auto count = static_cast<std::int32_t>(batch.chunks[i].bytes.size() / 4);
          const auto* values = reinterpret_cast<const std::int32_t*>(batch.chunks[i].bytes.data());
          next -= count;
          for (std::int32_t k = 0; k < count; ++k) REQUIRE(values[k] == next + k);
          const auto stored = std::get<StoredAt>(recut->locate(ids[i]));
          REQUIRE(stored.offset_bytes == 100 + static_cast<std::uint64_t>(next) * 4);
          REQUIRE(stored.length_bytes == static_cast<std::uint64_t>(count) * 4);
        }
        REQUIRE(next == 0);
      }
    }
  }
}

TEST_CASE("Paths have parents and names") {
  CHECK(parent_path("/a/b/c") == "/a/b");
  CHECK(parent_path("/c") == "/");
  CHECK(base_name("/a/b/c") == "c");
}

TEST_CASE("Encodings are the same only if all that shapes the bytes is") {
  ArrayMeta a;
  a.dtype = *parse_dtype("i4");
  a.shape = {4, 6};
  a.chunk = {2, 3};
  ArrayMeta b = a;
  b.layout.axes = {0, 1};
  b.path = "/other";
  CHECK(same_encoding(a, b));
  b.layout.axes = {1, 0};
  CHECK_FALSE(same_encoding(a, b));
  b = a;
  b.layout.byte_order = ByteOrder::big;
  CHECK_FALSE(same_encoding(a, b));
  a.dtype = b.dtype = *parse_dtype("u1");
  CHECK(same_encoding(a, b));
  b.codecs = {CodecSpec{"zstd", {}}};
  CHECK_FALSE(same_encoding(a, b));
}

}  // namespace
}  // namespace chunkwise
