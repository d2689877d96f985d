#include "base/error.h"

#include <catch2/catch.hpp>

#include "throws_code.h"

namespace chunkwise {
namespace {

TEST_CASE("An error tells its places from the inside out") {
  Error error(Code::corrupt, "the checksum differs", "copy the file again");
  CHECK(std::string(error.what()) == "the checksum differs");
  CHECK(error.where().empty());
  error.in("chunk 3").in("/T").in("");
  CHECK(std::string(error.what()) == "the checksum differs: chunk 3: /T");
  CHECK(error.message() == "the checksum differs");
  CHECK(error.where() == "chunk 3: /T");
  CHECK(error.hint() == "copy the file again");
}

TEST_CASE("A place can be added while an error passes through") {
  const auto inner = [] { throw Error(Code::io, "disk full"); };
  const auto outer = [&] {
    try {
      inner();
    } catch (Error& error) {
      throw error.in("out.nc");
    }
  };
  REQUIRE_ERROR(outer(), Code::io, "disk full: out.nc");
}

TEST_CASE("Codes are the exit codes and have names") {
  CHECK(static_cast<int>(Code::usage) == 2);
  CHECK(static_cast<int>(Code::internal) == 70);
  CHECK(std::string(code_name(Code::corrupt)) == "corrupt input");
  CHECK(std::string(code_name(Code::not_found)) == "not found");
}

TEST_CASE("A failed check is an internal error that names itself") {
  const int rank = 3;
  CHECK_NOTHROW(CHUNKWISE_CHECK(rank == 3));
  REQUIRE_ERROR(CHUNKWISE_CHECK(rank == 4), Code::internal, "rank == 4");
  REQUIRE_ERROR(CHUNKWISE_CHECK(rank == 4), Code::internal, "error_test.cc");
}

}  // namespace
}  // namespace chunkwise
