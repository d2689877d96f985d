#include <catch2/catch.hpp>

#include "../base/throws_code.h"
#include "store/local_path.h"

namespace chunkwise {
namespace {

TEST_CASE("Local URLs are paths") {
  CHECK(local_path("file:///data/a.zarr") == "/data/a.zarr");
  CHECK(local_path("file://localhost/data/a.zarr/") == "/data/a.zarr/");
  CHECK(local_path("file:///a%20b%25%C3%A9") == "/a b%\xc3\xa9");
  CHECK(local_path("a%20b") == "a%20b");
  CHECK(local_path("dir/file:x") == "dir/file:x");
  CHECK(local_path("").empty());
  REQUIRE_ERROR(local_path("file://data/a.zarr"), Code::usage, "host");
  REQUIRE_ERROR(local_path("file://"), Code::usage, "no path");
  REQUIRE_ERROR(local_path("file:///a#mode=nczarr"), Code::usage, "not part of a path");
  REQUIRE_ERROR(local_path("file:///a%2"), Code::usage, "no character");
  REQUIRE_ERROR(local_path("file:///a%zz"), Code::usage, "no character");
  REQUIRE_ERROR(local_path("file:///a%00"), Code::usage, "no character");
}

}  // namespace
}  // namespace chunkwise
