// Advice without a file; with files: tests/scenarios/advise_test.py.
#include "app/advise.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "model/policy.h"

using namespace chunkwise;
using Kind = AdviseReport::Layout::Kind;

namespace {

AdviseRequest narr() {
  AdviseRequest request;
  request.shape = Shape{98128, 277, 349};
  request.dtype = "f4";
  request.dims = {"time", "y", "x"};
  return request;
}

Code code_of(const AdviseRequest& request) {
  try {
    advise(request);
  } catch (const Error& e) {
    return e.code();
  }
  return Code::ok;
}

ArrayMeta stored_map_by_map() {
  ArrayMeta meta;
  meta.path = "/T";
  meta.dtype = *parse_dtype("f4");
  meta.shape = {5000, 100, 120};
  meta.max_shape = meta.shape;
  meta.dims = {"time", "lat", "lon"};
  meta.chunk = {1, 100, 120};
  meta.stored_bytes = 5000ULL * 100 * 120 * 4;
  meta.n_stored_chunks = 5000;
  return meta;
}

}  // namespace

TEST_CASE("every default policy is listed, fastest first, after the recommended layout") {
  const auto report = advise(narr());
  REQUIRE(report.variables.size() == 1);
  const auto& layouts = report.variables[0].layouts;
  REQUIRE(layouts.front().kind == Kind::recommended);
  CHECK(layouts.size() == 1 + default_policies().size());
  for (std::size_t i = 2; i < layouts.size(); ++i) CHECK(layouts[i - 1].weighted_s <= layouts[i].weighted_s);
}

TEST_CASE("nothing within the limits is priced better than the recommended layout, on any device") {
  for (const auto& device : devices()) {
    auto request = narr();
    request.device = device.name;
    request.accesses = {"time-series@3", "map", "box=time/24,y/50,x/50@10"};
    request.candidates = {"92,9,11", "time/516,y/20,x/25", "contiguous"};
    const auto report = advise(request);
    const auto& variable = report.variables[0];
    const auto* pick = variable.find(Kind::recommended);
    for (const auto& layout : variable.layouts) {
      if (!layout.chunk) continue;
      const auto bytes = static_cast<std::uint64_t>(product(*layout.chunk)) * 4;
      INFO(device.name << ": " << layout.name);
      if (bytes >= 64 * 1024 && bytes <= 16 * 1024 * 1024) CHECK(layout.weighted_s >= pick->weighted_s);
    }
  }
}

TEST_CASE("limits on chunk size hold") {
  auto request = narr();
  request.limits.min_chunk_bytes = 4 << 20;
  request.limits.max_chunk_bytes = 8 << 20;
  const auto report = advise(request);
  const auto bytes = product(*report.variables[0].find(Kind::recommended)->chunk) * 4;
  CHECK(bytes >= 4 << 20);
  CHECK(bytes <= 8 << 20);
}

TEST_CASE("top keeps the fastest policies, the rest of the table stays") {
  auto request = narr();
  request.top = 2;
  request.candidates = {"92,9,11"};
  const auto report = advise(request);
  CHECK(report.variables[0].layouts.size() == 4);
  request.policies = {"nc4"};
  CHECK(advise(request).variables[0].layouts.size() == 3);
}

TEST_CASE("requests that contradict themselves are usage errors") {
  CHECK(code_of({}) == Code::usage);
  auto request = narr();
  request.path = "file.nc";
  CHECK(code_of(request) == Code::usage);
  for (const auto* access : {"a=level/1", "a=time/98129", "profile", "map=x"}) {
    request = narr();
    request.accesses = {access};
    INFO(access);
    CHECK(code_of(request) == Code::usage);
  }
  request = narr();
  request.accesses = {"map", "map"};
  CHECK(code_of(request) == Code::usage);
  request = narr();
  request.candidates = {"1,2"};
  CHECK(code_of(request) == Code::usage);
  request = narr();
  request.dims = {"time", "time", "x"};
  CHECK(code_of(request) == Code::usage);
  request = narr();
  request.shape = Shape{999999999999999999, 999999999999999999};
  request.dims = {};
  CHECK(code_of(request) == Code::usage);
  CHECK_THROWS_AS(parse_shape("3,,4"), Error);
  CHECK_THROWS_AS(parse_shape("-3"), Error);
  CHECK_THROWS_AS(parse_shape("9999999999999999999"), Error);
}

TEST_CASE("the chunk for -c auto fits the array and differs from a poor one") {
  auto meta = stored_map_by_map();
  const auto chunk = recommended_chunk(meta, false);
  REQUIRE(chunk.rank() == 3);
  CHECK(chunk[0] > 1);
  for (int axis = 0; axis < 3; ++axis) CHECK((chunk[axis] >= 1 && chunk[axis] <= meta.shape[axis]));

  meta.storage = Storage::contiguous;
  CHECK(recommended_chunk(meta, false).rank() == 3);
  meta.shape = {0, 100, 120};
  meta.storage = Storage::chunked;
  CHECK(recommended_chunk(meta, false) == meta.chunk);
}

TEST_CASE("arrays of any number type and many axes are advised in time") {
  AdviseRequest request;
  request.shape = Shape{40, 12, 51, 37, 721, 1440};
  request.dtype = "i2";
  for (int p = 0; p < 16; ++p) {
    request.accesses.push_back("p" + std::to_string(p) + "=" + std::to_string(p % 6) + "/all," +
                               std::to_string((p + 1) % 6) + "/1," + std::to_string((p + 2) % 6) + "/7");
  }
  const auto report = advise(request);
  CHECK(report.variables[0].layouts.front().costs.size() == 16);
}
