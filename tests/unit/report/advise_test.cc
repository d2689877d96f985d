#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

#include "base/json.h"
#include "report/advise_report.h"
#include "report/text_table.h"

using namespace chunkwise;

namespace {

AdviseReport::Layout layout(AdviseReport::Layout::Kind kind, std::string name, std::optional<Shape> chunk,
                            std::vector<double> seconds) {
  AdviseReport::Layout result;
  result.kind = kind;
  result.name = std::move(name);
  result.chunk = std::move(chunk);
  result.size_bytes = 1e9;
  for (const double s : seconds) {
    Cost cost;
    cost.seconds = s;
    cost.seconds_low = s / 2;
    cost.seconds_high = s * 2;
    cost.requests.chunks = 10;
    cost.requests.requests = 2.5;
    cost.requests.bytes = 1234.4;
    cost.terms.device_s = s;
    result.costs.push_back(cost);
    result.weighted_s += s;
    result.objective += s;
  }
  return result;
}

AdviseReport::Variable variable(const std::string& path) {
  using Kind = AdviseReport::Layout::Kind;
  AdviseReport::Variable result;
  result.meta.path = path;
  result.meta.dtype = *parse_dtype("f4");
  result.meta.shape = {1000, 200, 300};
  result.meta.dims = {"time", "y", "x"};
  result.meta.storage = Storage::chunked;
  result.meta.chunk = {1, 200, 300};
  result.meta.stored_bytes = 240000000;
  result.axes = axes_of(result.meta);
  result.n_chunks = 1000;
  result.patterns = {{"time-series", {1000, 1, 1}, 1}, {"map", {1, 200, 300}, 1}};
  result.layouts = {layout(Kind::current, "current", Shape{1, 200, 300}, {90.0, 0.001}),
                    layout(Kind::recommended, "recommended", Shape{100, 20, 30}, {0.2, 0.1}),
                    layout(Kind::policy, "nc4", Shape{500, 50, 60}, {0.5, 0.7})};
  return result;
}

AdviseReport report(std::size_t n_variables) {
  AdviseReport result;
  result.file = "dir/air.nc";
  result.format = "nc4";
  result.device = find_device("ssd");
  for (std::size_t i = 0; i < n_variables; ++i) result.variables.push_back(variable("/T" + std::to_string(i)));
  result.skipped = {{"/time", "one dimension"}};
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("the text fits 80 columns, names everything, and ends with the command") {
  for (const bool explain : {false, true}) {
    const auto text = advise_text(report(2), explain);
    for (const auto& line : lines_of(text)) {
      INFO(line);
      CHECK(line.size() <= 80);
    }
    for (const auto* word : {"air.nc", "nc4", "ssd", "/T0", "f4 (time 1000, y 200, x 300)", "current", "recommended",
                             "time-series", "map", "weighted", "100x20x30", "not calibrated"}) {
      INFO(word);
      CHECK(text.find(word) != std::string::npos);
    }
    CHECK(text.find("rechunk dir/air.nc dir/air-fast.nc -c T0:time/100,y/20,x/30") != std::string::npos);
    CHECK(text.find("/time (one dimension)") != std::string::npos);
  }
}

TEST_CASE("a thousand alike variables are one group and one page") {
  auto many = report(1000);
  CHECK(lines_of(advise_text(many, false)).size() < 60);
  many.is_default = true;
  CHECK(advise_text(many, false).find("-c auto") != std::string::npos);
}

TEST_CASE("a gain within the model's error is no reason to rewrite") {
  auto one = report(1);
  for (auto& cost : one.variables[0].layouts[0].costs) cost.seconds = 0.2;
  one.variables[0].layouts[0].weighted_s = one.variables[0].layouts[0].objective = 0.4;
  auto text = advise_text(one, false);
  std::replace(text.begin(), text.end(), '\n', ' ');
  CHECK(text.find("leave it as it is") != std::string::npos);
  CHECK(text.find("To rewrite") == std::string::npos);
}

TEST_CASE("many accesses and a long rank still make a table") {
  auto wide = report(1);
  auto& v = wide.variables[0];
  v.patterns.clear();
  for (int p = 0; p < 9; ++p) v.patterns.push_back({"pattern" + std::to_string(p), {1, 1, 1}, 1});
  for (auto& l : v.layouts) l.costs.resize(9, l.costs.front());
  for (const auto& line : lines_of(advise_text(wide, false))) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
}

TEST_CASE("JSON has the members of the schema") {
  const Json document = parse_json(advise_json(report(1)));
  CHECK(document["schema"] == "chunkadvise/1");
  const Json& v = document["variables"][0];
  CHECK(v["path"] == "/T0");
  CHECK(v["shape"] == Json({1000, 200, 300}));
  CHECK(v["dtype"] == "f4");
  CHECK(v["dims"] == Json({"time", "y", "x"}));
  CHECK(v["chunks"] == Json({1, 200, 300}));
  CHECK(v["codecs"].empty());
  CHECK(v["n_chunks"] == 1000);
  CHECK(v["stored_bytes"] == 240000000);
  CHECK(v["patterns"][1]["name"] == "map");
  const Json& l = v["layouts"][1];
  CHECK(l["name"] == "recommended");
  CHECK(l["chunks"] == Json({100, 20, 30}));
  CHECK(l["shards"].is_null());
  CHECK(l["weighted_seconds"] == Approx(0.3));
  const Json& cost = l["costs"][0];
  CHECK(cost["chunks"].is_number_integer());
  CHECK(cost["chunks"] == 10);
  CHECK(cost["requests"] == 2.5);
  CHECK(cost["bytes_read"] == 1234);
  CHECK(cost["seconds_low"] == 0.1);
}

TEST_CASE("without a file there is no current layout and no path") {
  auto imagined = report(1);
  imagined.file.clear();
  imagined.format.clear();
  imagined.skipped.clear();
  auto& v = imagined.variables[0];
  v.exists = false;
  v.layouts.erase(v.layouts.begin());
  const Json document = parse_json(advise_json(imagined));
  CHECK(document["file"].is_null());
  CHECK(document["variables"][0]["path"].is_null());
  CHECK(document["variables"][0]["stored_bytes"].is_null());
  CHECK(advise_text(imagined, true).find("rechunk ") == std::string::npos);
}

TEST_CASE("wrapping and quoting") {
  CHECK(wrap("one two three", 2, 8) == "one two\n  three\n");
  CHECK(wrap("", 2) == "\n");
  CHECK(wrap(std::string(100, 'x'), 2).size() == 101);
  CHECK(shell_word("air.nc") == "air.nc");
  CHECK(shell_word("my file.nc") == "'my file.nc'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("$(rm x)") == "'$(rm x)'");
}

TEST_CASE("tables drop what can be spared before they get too wide") {
  const TextColumn name{"name", false, 0, {std::string(50, 'n')}};
  const TextColumn spare{"spare", true, 1, {std::string(20, 's')}};
  const TextColumn first{"first", true, 2, {std::string(20, 'f')}};
  const auto text = format_table({name, spare, first});
  CHECK(text.find("spare") != std::string::npos);
  CHECK(text.find("first") == std::string::npos);
  CHECK(format_table({name}).find("nnn") != std::string::npos);
}
