#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "../store/scratch_directory.h"
#include "array/sampled_chunks.h"
#include "store/store.h"

namespace chunkwise {
namespace {

ArrayMeta meta_of(Shape shape) {
  ArrayMeta meta;
  meta.shape = shape;
  meta.chunk = Shape::filled(shape.rank(), 1);
  meta.dtype = DType(DType::Kind::uint, 1);
  meta.storage = Storage::chunked;
  return meta;
}

TEST_CASE("Few chunks are not sampled, many are") {
  CHECK_FALSE(is_worth_sampling(ChunkGrid({64, 64}, {1, 1})));
  CHECK(is_worth_sampling(ChunkGrid({64, 65}, {1, 1})));
}

TEST_CASE("What all chunks have in common is found exactly") {
  const testing::ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "s");
  const ChunkKeys keys{"a/", true, '/'};
  ArrayMeta meta = meta_of({100, 100});
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 100; ++x) store->write(keys.key({y, x}), as_bytes("123"));
  const ChunkSample sample = sample_chunks(*store, keys, meta.grid());
  CHECK(sample.n_looked_at == 512);
  CHECK(sample.n_found == 512);
  CHECK(sample.about_count(10'000) == 10'000);
  CHECK(sample.about_bytes(10'000) == 30'000);
  take_estimate(sample, meta);
  CHECK(meta.count_is_estimate);
  CHECK(meta.stored_bytes == 30'000);
  CHECK(meta.n_stored_chunks == 9'999);  // an estimate is never all
}

TEST_CASE("Of a grid with a pattern the share is met, whatever the pattern's period") {
  const testing::ScratchDirectory scratch;
  for (const int period : {2, 3, 10, 100}) {
    const auto store = open_directory_store(scratch / std::to_string(period));
    const ChunkKeys keys{"", false, '.'};
    for (int id = 0; id < 10'000; id += period) store->write(keys.key({id / 100, id % 100}), as_bytes("12"));
    const ChunkSample sample = sample_chunks(*store, keys, ChunkGrid({100, 100}, {1, 1}));
    const double expected = 10'000.0 / period;
    INFO(period);
    CHECK(std::abs(static_cast<double>(sample.about_count(10'000)) - expected) < 60 + 0.2 * expected);
    CHECK(sample.about_bytes(10'000) == sample.found_bytes * 10'000 / 512);
  }
}

TEST_CASE("Nothing is found where nothing is") {
  const testing::ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "s");
  ArrayMeta meta = meta_of({100, 100});
  const ChunkSample sample = sample_chunks(*store, {"a/", false, '.'}, meta.grid());
  CHECK(sample.n_found == 0);
  take_estimate(sample, meta);
  CHECK(meta.stored_bytes == 0);
  CHECK(meta.n_stored_chunks == 1);  // nor none
}

}  // namespace
}  // namespace chunkwise
