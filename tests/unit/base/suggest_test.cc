#include "base/suggest.h"

#include <catch2/catch.hpp>

namespace chunkwise {
namespace {

TEST_CASE("suggest finds the nearest name") {
  const std::vector<std::string> names = {"time", "latitude", "longitude", "level", "T"};
  CHECK(suggest("tme", names) == "did you mean 'time'?");
  CHECK(suggest("TIME", names) == "did you mean 'time'?");
  CHECK(suggest("tiem", names) == "did you mean 'time'?");
  CHECK(suggest("latitud", names) == "did you mean 'latitude'?");
  CHECK(suggest("longitdue", names) == "did you mean 'longitude'?");
  CHECK(suggest("t", names) == "did you mean 'T'?");
}

TEST_CASE("suggest lists the names when none is near") {
  CHECK(suggest("pressure", {"time", "x"}) == "known: time, x");
  CHECK(suggest("x", {"y"}) == "known: y");
  CHECK(suggest("", {"y"}) == "known: y");
  CHECK(suggest("x", {}).empty());
  std::vector<std::string> many;
  for (int i = 0; i < 15; ++i) many.push_back("variable_" + std::to_string(i));
  CHECK(suggest("q", many) ==
        "known: variable_0, variable_1, variable_2, variable_3, variable_4, variable_5, variable_6, variable_7, "
        "variable_8, variable_9, variable_10, variable_11, and 3 more");
}

TEST_CASE("suggest does not compare enormous names") {
  const std::string enormous(10'000'000, 'a');
  CHECK(suggest(enormous, {"x"}) == "known: x");
  CHECK(suggest("aaaa", {enormous, "aaab"}) == "did you mean 'aaab'?");
}

}  // namespace
}  // namespace chunkwise
