#include "model/pattern.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace chunkwise;

namespace {

Axes axes(Shape shape, std::vector<std::string> names = {}, std::vector<bool> unlimited = {}) {
  names.resize(static_cast<std::size_t>(shape.rank()));
  unlimited.resize(static_cast<std::size_t>(shape.rank()));
  return {shape, names, unlimited};
}

Shape extents(const std::string& access, const Axes& of) {
  const auto bound = bind(parse_access(access), of);
  REQUIRE(std::holds_alternative<AccessPattern>(bound));
  return std::get<AccessPattern>(bound).extents;
}

std::string why_not(const std::string& access, const Axes& of) {
  const auto bound = bind(parse_access(access), of);
  REQUIRE(std::holds_alternative<NotApplicable>(bound));
  return std::get<NotApplicable>(bound).why;
}

Code code_of(const std::string& access) {
  try {
    parse_access(access);
  } catch (const Error& e) {
    return e.code();
  }
  return Code::ok;
}

}  // namespace

TEST_CASE("accesses in words") {
  const auto tyx = axes({100, 20, 30}, {"time", "y", "x"});
  CHECK(extents("a=time/10,x/1", tyx) == Shape{10, 20, 1});
  CHECK(extents("a=time/all,1/2,2/3", tyx) == Shape{100, 2, 3});
  CHECK(parse_access("a=time/1@2.5").weight == 2.5);
  CHECK(parse_access("map@3").weight == 3);
  CHECK(parse_access("map").weight == 1);
}

TEST_CASE("accesses that make no sense are usage errors") {
  for (const auto* text : {"a=time", "a=time/0", "a=time/-1", "a=time/1.5", "a=time/x", "a=/1", "a=", "=time/1", "",
                           "time/1", "nap", "map@0", "map@-1", "map@x", "map@inf", "map@", "a=time/1,time/2",
                           "a=time/1,,x/1", "a=time/99999999999999999999"}) {
    INFO(text);
    CHECK(code_of(text) == Code::usage);
  }
}

TEST_CASE("accesses that do not fit an array") {
  const auto tyx = axes({100, 20, 30}, {"time", "y", "x"});
  CHECK(why_not("a=level/1", tyx) == "no dimension 'level'");
  CHECK(why_not("a=3/1", tyx) == "no dimension '3'");
  CHECK(why_not("a=time/101", tyx).find("exceeds the extent 100") != std::string::npos);
  CHECK(why_not("a=time/1,0/1", tyx).find("twice") != std::string::npos);
  CHECK(why_not("profile", tyx).find("vertical") != std::string::npos);
}

TEST_CASE("presets by name") {
  const auto tzyx = axes({100, 10, 20, 30}, {"time", "lev", "lat", "lon"});
  CHECK(extents("time-series", tzyx) == Shape{100, 1, 1, 1});
  CHECK(extents("map", tzyx) == Shape{1, 1, 20, 30});
  CHECK(extents("profile", tzyx) == Shape{1, 10, 1, 1});
  CHECK(extents("full", tzyx) == Shape{100, 10, 20, 30});
  // Transposed: names win over places.
  const auto xyt = axes({30, 20, 100}, {"longitude", "latitude", "valid_time"});
  CHECK(extents("time-series", xyt) == Shape{1, 1, 100});
  CHECK(extents("map", xyt) == Shape{30, 20, 1});
  // One horizontal axis.
  CHECK(extents("map", axes({100, 5000}, {"time", "station"})) == Shape{1, 5000});
  CHECK(extents("map", axes({100, 4, 5000}, {"Time", "nVertLevels", "cell"})) == Shape{1, 1, 5000});
}

TEST_CASE("presets by place") {
  CHECK(extents("time-series", axes({100, 20, 30})) == Shape{100, 1, 1});
  CHECK(extents("map", axes({100, 20, 30})) == Shape{1, 20, 30});
  CHECK(extents("map", axes({100, 20})) == Shape{1, 20});
  CHECK(extents("time-series", axes({20, 100}, {}, {false, true})) == Shape{1, 100});
  CHECK(extents("map", axes({100, 5, 6, 7})) == Shape{1, 1, 6, 7});
  CHECK(why_not("time-series", axes({20, 30}, {"lat", "lon"})).find("time") != std::string::npos);
  CHECK(extents("map", axes({20, 30}, {"lat", "lon"})) == Shape{20, 30});
}
