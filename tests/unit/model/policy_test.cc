// Reference vectors of rules other programs follow; float32 throughout unless said.
#include "model/policy.h"

#include <catch2/catch.hpp>

#include <cmath>

#include "base/error.h"

using namespace chunkwise;

namespace {

Shape chunk_of(const std::string& policy, const Shape& shape, std::size_t element_bytes = 4,
               std::vector<bool> unlimited = {}) {
  unlimited.resize(static_cast<std::size_t>(shape.rank()));
  return find_policy(policy).chunk({shape, unlimited, element_bytes});
}

const Shape kNarr = {98128, 277, 349};
const Shape kEra5 = {8760, 721, 1440};

}  // namespace

TEST_CASE("rew at the published sizes") {
  CHECK(chunk_of("rew", kNarr) == Shape{33, 5, 6});
  CHECK(chunk_of("rew:4KiB", kNarr) == Shape{33, 5, 6});
  CHECK(chunk_of("rew:8KiB", kNarr) == Shape{46, 6, 7});
  CHECK(chunk_of("rew:16KiB", kNarr) == Shape{64, 8, 8});
  CHECK(chunk_of("rew:64KiB", kNarr) == Shape{129, 10, 12});
  CHECK(chunk_of("rew:1MiB", kNarr) == Shape{516, 20, 25});
  CHECK(chunk_of("rew:4MiB", kNarr) == Shape{1032, 29, 35});
  CHECK(chunk_of("rew:16MiB", kNarr) == Shape{2064, 40, 50});
  CHECK(chunk_of("rew:4KiB", kEra5) == Shape{3, 13, 26});
  CHECK(chunk_of("rew:8KiB", kEra5) == Shape{4, 16, 32});
  CHECK(chunk_of("rew:16KiB", kEra5) == Shape{6, 18, 37});
  CHECK(chunk_of("rew:64KiB", kEra5) == Shape{12, 26, 52});
  CHECK(chunk_of("rew:1MiB", kEra5) == Shape{48, 52, 105});
  CHECK(chunk_of("rew:4MiB", kEra5) == Shape{95, 74, 149});
  CHECK(chunk_of("rew:16MiB", kEra5) == Shape{189, 105, 211});
}

TEST_CASE("rew-nd equals rew at rank 3 and meets its target at rank 4 where rew falls short") {
  for (const auto* size : {":4KiB", ":64KiB", ":4MiB"}) {
    CHECK(chunk_of(std::string("rew-nd") + size, kNarr) == chunk_of(std::string("rew") + size, kNarr));
  }
  const Shape model_levels = {8760, 37, 721, 1440};
  const auto bytes_of = [](const Shape& chunk) { return product(chunk) * 4; };
  CHECK(bytes_of(chunk_of("rew-nd:64KiB", model_levels)) > 48 * 1024);
  CHECK(bytes_of(chunk_of("rew-nd:64KiB", model_levels)) <= 64 * 1024);
  CHECK(bytes_of(chunk_of("rew:64KiB", model_levels)) < 24 * 1024);
}

TEST_CASE("netCDF-C's defaults") {
  CHECK(chunk_of("nc4", kNarr) == Shape{4673, 12, 16});
  CHECK(chunk_of("nc4:16MiB", kNarr) == Shape{7010, 20, 25});
  CHECK(chunk_of("nc4", kEra5) == Shape{418, 33, 69});
  CHECK(chunk_of("nc4:16MiB", kEra5) == Shape{674, 52, 103});
  CHECK(chunk_of("nc4", kNarr, 4, {true, false, false}) == Shape{1, 277, 349});
  CHECK(chunk_of("nc4", kEra5, 4, {true, false, false}) == Shape{1, 721, 1440});
  CHECK(chunk_of("nc4", {100}, 4, {true}) == Shape{1024});
  CHECK(chunk_of("nc4", {100}, 8, {true}) == Shape{512});
  CHECK(chunk_of("nc4", {100, 100}, 4, {true, true}) == Shape{1024, 1024});
}

TEST_CASE("the guesses of h5py, zarr-python and dask") {
  CHECK(chunk_of("h5py", kNarr) == Shape{1534, 5, 11});
  CHECK(chunk_of("zarr", kNarr) == Shape{3067, 18, 22});
  CHECK(chunk_of("dask", kNarr) == Shape{348, 277, 348});
  CHECK(chunk_of("h5py", kEra5) == Shape{137, 23, 45});
  CHECK(chunk_of("zarr", kEra5) == Shape{548, 46, 90});
  CHECK(chunk_of("dask", kEra5) == Shape{322, 322, 322});
}

TEST_CASE("every policy stays inside small, long and empty arrays") {
  const std::vector<Shape> shapes = {{1},
                                     {7},
                                     {1, 1},
                                     {3, 5},
                                     {1000000, 1},
                                     {1, 1000000},
                                     {0, 5},
                                     {5, 0, 3},
                                     {2, 2, 2, 2, 2, 2, 2, 2},
                                     {1000000000, 3, 3}};
  for (const auto& policy : default_policies()) {
    for (const auto& shape : shapes) {
      const auto chunk = chunk_of(policy.name, shape, 8);
      INFO(policy.name << " on " << to_string(shape) << " gives " << to_string(chunk));
      REQUIRE(chunk.rank() == shape.rank());
      for (int axis = 0; axis < shape.rank(); ++axis) {
        CHECK(chunk[axis] >= 1);
        if (shape[axis] > 0) CHECK(chunk[axis] <= shape[axis]);
      }
    }
  }
}

TEST_CASE("policy names") {
  CHECK(find_policy("rew:512KiB").bytes == 512 * 1024);
  CHECK_THROWS_AS(find_policy("rev"), Error);
  CHECK_THROWS_AS(find_policy("h5py:1MiB"), Error);
  CHECK_THROWS_AS(find_policy("rew:"), Error);
  CHECK_THROWS_AS(find_policy("rew:0"), Error);
  try {
    find_policy("rev");
  } catch (const Error& e) {
    CHECK(e.code() == Code::usage);
    CHECK(e.hint().find("rew") != std::string::npos);
  }
}

TEST_CASE("NCO, PyTables, TensorStore, rechunkit, neuroconv, cmip7: reference vectors") {
  CHECK(chunk_of("nco-lfp", kNarr, 4, {true, false, false}) == Shape{10, 277, 349});
  CHECK(chunk_of("nco-lfp", kEra5, 4, {true, false, false}) == Shape{1, 721, 1440});
  CHECK(chunk_of("nco-lfp", kNarr) == kNarr);  // no record: one chunk
  CHECK(chunk_of("nco-rew", kNarr) == Shape{1032, 29, 35});
  CHECK(chunk_of("nco-rd1", kNarr, 4, {true, false, false}) == Shape{1, 277, 349});
  CHECK(chunk_of("nco-dmn", kNarr) == kNarr);
  CHECK(chunk_of("nco-prd:4000", kNarr) == Shape{10, 10, 10});
  CHECK(chunk_of("nco-scl:400", kNarr) == Shape{100, 100, 100});
  CHECK(chunk_of("pytables", kNarr) == Shape{2, 277, 349});
  CHECK(chunk_of("pytables", kEra5) == Shape{1, 182, 1440});
  CHECK(chunk_of("tensorstore", kNarr) == Shape{101, 101, 101});
  CHECK(chunk_of("tensorstore", kEra5) == Shape{101, 101, 101});
  CHECK(chunk_of("rechunkit", kNarr) == Shape{2520, 12, 12});
  CHECK(chunk_of("rechunkit", kEra5) == Shape{360, 24, 48});
  CHECK(chunk_of("neuroconv", kNarr) == Shape{6726, 19, 19});
  CHECK(chunk_of("neuroconv", kEra5) == Shape{708, 59, 59});
  CHECK(chunk_of("cmip7", kNarr) == Shape{10, 277, 349});
  CHECK(chunk_of("cmip7", kEra5) == Shape{1, 721, 1440});
  CHECK(chunk_of("scidb", {5000, 5000}) == Shape{1000, 1000});
  CHECK(chunk_of("weatherbench", kEra5) == Shape{1, 721, 1440});
  CHECK(chunk_of("arco", {8760, 37, 721, 1440}) == Shape{1, 37, 721, 1440});
  CHECK(chunk_of("anemoi", {8760, 100, 10, 40320}) == Shape{1, 100, 1, 40320});
  CHECK(chunk_of("anemoi", {365, 40, 100, 10, 40320}) == Shape{1, 1, 100, 1, 40320});
}

TEST_CASE("rew rounded up gives the shapes of the table's last rows") {
  CHECK(chunk_of("rew-ceil:32KiB", kNarr) == Shape{92, 9, 11});
  CHECK(chunk_of("rew-ceil:8KiB", kNarr) == Shape{46, 6, 8});
}

TEST_CASE("netCDF-C by version") {
  CHECK(chunk_of("nc4-4.9.3:4MiB", kNarr) == Shape{4673, 12, 16});
  CHECK(chunk_of("nc4", {5000}, 4, {true}) == Shape{1024});
  CHECK(chunk_of("nc4-4.3.2", {5000}, 4, {true}) == Shape{262144});
  CHECK(chunk_of("nc4-4.0.1", {2000000, 70000, 300}) == Shape{1048576, 35001, 300});
  CHECK(chunk_of("nc4-4.0.1", kNarr, 4, {true, false, false}) == Shape{1, 277, 349});
}

TEST_CASE("zarr's shards: two chunks along axes of more than eight") {
  const Policy policy = find_policy("zarr-shards");
  const PolicyInput input{kNarr, {false, false, false}, 4};
  const Shape chunk = policy.chunk(input);
  const Shape shard = policy.row->shard(input, chunk);
  for (int axis = 0; axis < 3; ++axis) CHECK(shard[axis] == chunk[axis] * (kNarr[axis] / chunk[axis] > 8 ? 2 : 1));
}

TEST_CASE("blosc2 with the caches of a machine") {
  // L1 32 KiB, L2 512 KiB, L3 32 MiB: blocks of 128 KiB, chunks of 8 MiB.
  const PolicyInput input{{1000, 1000}, {false, false}, 8};
  const CacheSizes caches{32768, 524288, 33554432};
  const Shape chunk = chunk_blosc2_for(input, caches);
  CHECK(chunk == Shape{1000, 1000});
  CHECK(chunk_blosc2_for({{1000000, 1000}, {false, false}, 8}, caches)[1] == 1000);
}

TEST_CASE("rules that weigh accesses find the best by trying all") {
  PolicyInput input{{64, 64, 64}, {false, false, false}, 4};
  input.patterns = {{"series", {64, 1, 1}, 3}, {"map", {1, 64, 64}, 1}, {"box", {8, 16, 16}, 2}};
  const std::uint64_t bytes = 256 * 4;
  const auto pages = [&](const Shape& chunk) {
    double sum = 0;
    for (const auto& p : input.patterns) {
      double n = p.weight;
      for (int a = 0; a < 3; ++a) n *= std::ceil(double(p.extents[a]) / double(chunk[a]));
      sum += n;
    }
    return sum;
  };
  double best = 1e300;
  double best_expected = 1e300;
  const auto expected = [&](const Shape& chunk) {
    double sum = 0;
    for (const auto& p : input.patterns) {
      double n = p.weight;
      for (int a = 0; a < 3; ++a) n *= 1 + double(p.extents[a] - 1) / double(chunk[a]);
      sum += n;
    }
    return sum;
  };
  for (Index a = 1; a <= 64; ++a) {
    for (Index b = 1; b <= 64 && a * b <= 256; ++b) {
      for (Index c = 1; c <= 64 && a * b * c <= 256; ++c) {
        best = std::min(best, pages({a, b, c}));
        best_expected = std::min(best_expected, expected({a, b, c}));
      }
    }
  }
  CHECK(pages(find_policy("ss94:1024").chunk(input)) == best);
  const Shape otoo = find_policy("otoo:1024").chunk(input);
  CHECK(otoo[0] * otoo[1] * otoo[2] * 4 <= static_cast<Index>(bytes));
  CHECK(expected(otoo) <= best_expected * 1.05);  // whole lengths near the continuous optimum
  // One class: lengths in proportion to A - 1.
  input.patterns = {{"box", {33, 17, 9}, 1}};
  const Shape one = find_policy("otoo:2MiB").chunk({{4096, 4096, 4096}, {false, false, false}, 1, {}, input.patterns});
  CHECK(double(one[0]) / double(one[1]) == Approx(2).epsilon(0.02));
  CHECK(double(one[1]) / double(one[2]) == Approx(2).epsilon(0.02));
  CHECK(find_policy("tiledb").chunk(input) == Shape{33, 17, 29});  // 33x17x9 are 20 KB
}

TEST_CASE("NCO chooses which variables to chunk, and how") {
  PolicyInput fixed{{40, 60}, {false, false}, 4};
  PolicyInput growing{{12, 40, 60}, {true, false, false}, 4};
  growing.stored = Shape{3, 10, 20};
  CHECK(find_policy("nco-g3d+scl:10").chunk(fixed) == Shape{40, 60});  // left contiguous
  CHECK(find_policy("nco-g2d+scl:40").chunk(fixed) == Shape{10, 10});  // 40 bytes are ten elements
  CHECK(find_policy("nco-l2d+scl:40").chunk(fixed) == Shape{10, 10});
  CHECK(find_policy("nco-xst+scl:40").chunk(fixed) == Shape{40, 60});
  fixed.stored = Shape{10, 20};
  CHECK(find_policy("nco-xst+scl:40").chunk(fixed) == Shape{10, 10});
  CHECK(find_policy("nco-xst+xst").chunk(fixed) == Shape{10, 20});
  CHECK(find_policy("nco-map-xst").chunk(growing) == Shape{3, 10, 20});
  // What grows is chunked whatever the policy; without a map it is one record.
  for (const auto* name : {"nco-all", "nco-g2d", "nco-g3d", "nco-l2d", "nco-xst", "nco-uck", "nco-r1d"}) {
    INFO(name);
    CHECK(find_policy(name).chunk(growing) == Shape{1, 40, 60});
    CHECK(find_policy(name).name == name);
  }
  CHECK_THROWS_AS(find_policy("nco-g3d+nothing"), Error);
  CHECK_THROWS_AS(find_policy("nco-g3d:4KiB"), Error);
}
