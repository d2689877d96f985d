#include "model/trace.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "model/cost.h"

using namespace chunkwise;

namespace {

std::vector<AxisTouch> touches(const Shape& shape, const Shape& chunk, const Shape& start, const Shape& count) {
  std::vector<AxisTouch> axes;
  for (int axis = 0; axis < shape.rank(); ++axis)
    axes.push_back(touch_axis_at(shape[axis], chunk[axis], start[axis], count[axis]));
  return axes;
}

/// Runs of wanted elements inside each chunk that are neighbours in the result, too, by looking at every element.
double runs_by_looking(const Shape& shape, const Shape& chunk, const Shape& start, const Shape& count) {
  double runs = 0;
  const auto wanted = [&](Index y, Index x) {
    return y >= start[0] && y < start[0] + count[0] && x >= start[1] && x < start[1] + count[1];
  };
  for (Index cy = 0; cy < shape[0]; cy += chunk[0]) {
    for (Index cx = 0; cx < shape[1]; cx += chunk[1]) {
      Index before = -2;  // where the last element goes
      for (Index i = 0; i < chunk[0] * chunk[1]; ++i) {
        const Index y = cy + i / chunk[1];
        const Index x = cx + i % chunk[1];
        const Index now = wanted(y, x) ? (y - start[0]) * count[1] + x - start[1] : -2;
        runs += now >= 0 && now != before + 1 ? 1 : 0;
        before = now;
      }
    }
  }
  return runs;
}

}  // namespace

TEST_CASE("the sieve buffer reads what lies within 64 KiB at once") {
  // 500 elements 24,576 B apart: three fit into one sieve.
  const Shape shape = {500, 64, 96};
  const Shape one = {1, 1, 1};
  const auto series = sieve_reads(touches(shape, one, {0, 5, 7}, {500, 1, 1}), 4, 65536);
  CHECK(series.requests == 167);
  CHECK(series.bytes == 167 * 65536.0);
  CHECK(series.distance_bytes == 3 * 24576 - 65536);
  // A map is one run of 24,576 B; four of them, one of 98,304 B, which is read directly.
  CHECK(sieve_reads(touches(shape, one, {3, 0, 0}, {1, 64, 96}), 4, 65536).requests == 1);
  const auto maps = sieve_reads(touches(shape, one, {3, 0, 0}, {4, 64, 96}), 4, 65536);
  CHECK(maps.requests == 1);
  CHECK(maps.bytes == 4 * 24576.0);
  // Nested: 64 rows of 4 B, 384 B apart, are 24,196 B; the next map's begin 384 B behind the last: 2.67 maps a sieve.
  CHECK(sieve_reads(touches(shape, one, {0, 0, 7}, {500, 64, 1}), 4, 65536).requests == 188);
}

TEST_CASE("the sieve count is extrapolated above a million requests") {
  const auto reads = sieve_reads(touches({40000, 100, 5000}, {1, 1, 1}, {0, 0, 0}, {40000, 100, 1}), 4, 16384);
  CHECK(reads.requests == Approx(4e6 / 1).epsilon(0.01));
}

TEST_CASE("runs inside chunks") {
  for (Index y0 = 0; y0 < 7; y0 += 2) {
    for (Index x0 = 0; x0 < 9; ++x0) {
      for (Index ny = 1; ny <= 11 - y0; ++ny) {
        for (Index nx = 1; nx <= 13 - x0; ++nx) {
          for (const Shape& chunk : {Shape{3, 4}, Shape{5, 13}, Shape{1, 5}, Shape{4, 1}}) {
            const Shape shape = {11, 13};
            REQUIRE(runs_in_chunks(touches(shape, chunk, {y0, x0}, {ny, nx})) ==
                    runs_by_looking(shape, chunk, {y0, x0}, {ny, nx}));
          }
        }
      }
    }
  }
}

TEST_CASE("whole chunks of an axis, expected and at a place") {
  for (Index chunk : {1, 3, 4, 7}) {
    for (Index count = 1; count <= 17; ++count) {
      double sum = 0;
      for (Index start = 0; start + count <= 17; ++start) {
        double whole = 0;
        for (Index c = 0; c < 17; c += chunk) whole += c >= start && c + chunk <= start + count ? 1 : 0;
        CHECK(touch_axis_at(17, chunk, start, count).whole == whole);
        sum += whole;
      }
      CHECK(touch_axis(17, chunk, count).whole == Approx(sum / static_cast<double>(17 - count + 1)));
    }
  }
}

TEST_CASE("clients: options, aliases and refusals") {
  CHECK(find_client("hdf5").chunk_cache_bytes == 1048576);
  CHECK(find_client("h5py").chunk_cache_bytes == 8 * 1048576.0);
  const Client blocks = find_client("hdf5+blockcache:8MiB+latest");
  CHECK(blocks.fetch == Client::Fetch::blocks);
  CHECK(blocks.fetch_bytes == 8 * 1048576.0);
  CHECK(blocks.index == ChunkIndex::by_shape);
  for (const char* wrong : {"hdf6", "hdf5+", "hdf5+cache", "hdf5+cash:1MiB", "zarr-python+latest", "plain+cache:1MiB",
                            "zarr-python+blockcache:1MiB", "hdf5+blockcache:0"}) {
    CHECK_THROWS_AS(find_client(wrong), Error);
  }
  for (const Client& client : clients()) {
    if (client.is_plain()) continue;
    for (const Constant* constant : {&client.open_s, &client.chunk_s}) {
      CHECK(constant->low <= constant->value);
      CHECK(constant->value <= constant->high);
      CHECK_FALSE(constant->source.empty());
    }
  }
}

TEST_CASE("a block cache fetches blocks, as many as the requests lie in") {
  StoredArray array;
  array.shape = {2000000};
  array.element_bytes = 4;
  array.chunk = Shape{10000};
  const Client direct = find_client("hdf5");
  const Client cached = find_client("hdf5+blockcache:8MiB");
  array.client = &direct;
  const auto& s3 = find_device("s3");
  const auto all = price(array, Shape{2000000}, s3);
  CHECK(all.requests.calls == 200);
  CHECK(all.requests.bytes == 8e6);
  array.client = &cached;
  const auto blocks = price(array, Shape{2000000}, s3);
  CHECK(blocks.requests.calls == Approx(1 + 8e6 / 8388608));
}
