// Logs of data servers, line by line.
#include "model/access_log.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace chunkwise;

namespace {

const Axes kAxes = {{1000, 100, 200}, {"time", "lat", "lon"}, {true, false, false}};

std::string get(const std::string& target, int status = 200) {
  return fmt::format(R"(10.0.0.1 - - [30/Nov/2026:10:00:00 +0000] "GET {} HTTP/1.1" {} 4242)", target, status);
}

/// The only pattern that a line gives, in words.
std::string one(const std::string& line, const std::string& path = "/T") {
  AccessLog log;
  log.add(line);
  std::uint64_t n_unfit = 0;
  std::uint64_t n_rest = 0;
  const auto patterns = log.patterns(path, kAxes, 10, n_unfit, n_rest);
  if (n_unfit > 0) return "unfit";
  if (patterns.size() != 1) return fmt::format("{} patterns", patterns.size());
  return describe(patterns.front(), kAxes);
}

}  // namespace

TEST_CASE("DAP2 and DAP4 constraints, escaped or not") {
  CHECK(one(get("/thredds/dodsC/a/b.nc.dods?T[0:1:999][5:1:5][7:1:7]")) == "time all, lat 1, lon 1");
  CHECK(one(get("/dodsC/b.nc.dods?T%5B0:999%5D%5B5%5D%5B7%5D")) == "time all, lat 1, lon 1");
  CHECK(one(get("/dodsC/b.nc.dods?T%5b3%5d%5b0%3a99%5d%5b0%3a2%3a199%5d")) == "time 1, lat all, lon 100 every 2");
  CHECK(one(get("/dodsC/b.nc.ascii?T.T[3:12][0:99][0:199]")) == "time 10, lat all, lon all");
  CHECK(one(get("/dodsC/b.nc.dods?T")) == "time all, lat all, lon all");
  CHECK(one(get("/opendap/b.nc.dap?dap4.ce=/g/T[0:9][][4:5];/S"), "/g/T") == "time 10, lat all, lon 2");
  CHECK(one(get("/opendap/b.nc.dap?dap4.ce=%2Fg%2FT%5B0%3A9%5D%5B%5D%5B4%3A5%5D&dap4.checksum=true"), "/g/T") ==
        "time 10, lat all, lon 2");
  CHECK(one(get("/opendap/b.nc.dap.nc4?dap4.ce=/T[0:1:9][0:1:9][0:1:9]")) == "time 10, lat 10, lon 10");
  // Combined format: referrer and agent follow.
  CHECK(one(get("/dodsC/b.nc.dods?T[0][0:99][0:199]") + R"( "-" "netCDF-C/4.9.2")") == "time 1, lat all, lon all");
  CHECK(one(get("/dodsC/b.nc.dods?S,T[0][0:99][0:199]&time>3")) == "time 1, lat all, lon all");
}

TEST_CASE("JSON lines") {
  CHECK(one(R"({"variable": "T", "start": [0, 5, 7], "count": [1000, 1, 1]})") == "time all, lat 1, lon 1");
  CHECK(one(R"({"variable": "/T", "count": [10, 100, 100], "stride": [5, 1, 2]})") ==
        "time 10 every 5, lat all, lon 100 every 2");
  CHECK(one(R"({"variable": "T"})") == "time all, lat all, lon all");
  CHECK(one(R"({"url": "/dodsC/b.nc.dods?T[0][0:99][0:199]"})") == "time 1, lat all, lon all");
  CHECK(one(R"({"request": "GET /dodsC/b.nc.dods?T[0][0:99][0:199] HTTP/1.1"})") == "time 1, lat all, lon all");
}

TEST_CASE("what is no read of data, and what does not fit") {
  AccessLog log;
  log.add(get("/dodsC/b.nc.dds"));
  log.add(get("/dodsC/b.nc.das"));
  log.add(get("/opendap/b.nc.dmr"));
  log.add(get("/catalog.html"));
  log.add(get("/dodsC/b.nc.dods?T[0][0][0]", 404));
  log.add("something else");
  log.add(get("/dodsC/b.nc.dods?T[5:3][0][0]"));
  log.add(get("/dodsC/b.nc.dods?linear_scale(T)"));
  log.add(get("/dodsC/b.nc.dods?T[99999999999999999999][0][0]"));
  log.add(get("/dodsC/b.nc.dods?T[0"));
  log.add("{broken");
  log.add(R"({"variable": "T", "count": [0, 1, 1]})");
  log.add("");
  log.add("# comment");
  const auto& counts = log.counts();
  CHECK(counts.lines == 12);
  CHECK(counts.recognised == 0);
  CHECK(counts.metadata == 4);
  CHECK(counts.failed == 1);
  CHECK(counts.other == 7);
  CHECK(log.first_other() == "something else");
  CHECK(log.variables().empty());
  CHECK(one(get("/dodsC/b.nc.dods?T[0:1][0:1]")) == "unfit");
  CHECK(one(get("/dodsC/b.nc.dods?T[0:1000][0:1][0:1]")) == "unfit");
}

TEST_CASE("alike requests are one pattern whose weight is their number") {
  AccessLog log;
  for (int i = 0; i < 1000; ++i) {
    log.add(get(fmt::format("/dodsC/b.nc.dods?T[0:999][{}][{}]", i % 100, i % 200)));
    if (i % 10 == 0) log.add(get(fmt::format("/dodsC/b.nc.dods?T[{}][0:99][0:199]", i)));
    if (i % 100 == 0) log.add(get(fmt::format("/dodsC/b.nc.dods?T[{}:{}][0:9][0:{}]", i, i + 23, 19 + i / 500)));
  }
  std::uint64_t n_unfit = 0;
  std::uint64_t n_rest = 0;
  const auto patterns = log.patterns("/T", kAxes, 2, n_unfit, n_rest);
  REQUIRE(patterns.size() == 2);
  CHECK(patterns[0].weight == 1000);
  CHECK(patterns[0].name == "allx1x1");
  CHECK(patterns[1].weight == 100);
  CHECK(patterns[1].name == "1xallxall");
  CHECK(n_rest == 10);
  CHECK(log.patterns("/other", kAxes, 2, n_unfit, n_rest).empty());
}
