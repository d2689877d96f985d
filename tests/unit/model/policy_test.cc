// Reference vectors of rules other programs follow; float32 throughout unless said.
#include "model/policy.h"

#include <catch2/catch.hpp>

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
