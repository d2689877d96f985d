#include "base/checked.h"

#include <catch2/catch.hpp>

#include <limits>

namespace chunkwise {
namespace {

TEST_CASE("Checked arithmetic says when it would wrap") {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(checked_mul<std::int64_t>(kMost, 1) == kMost);
  CHECK_FALSE(checked_mul<std::int64_t>(kMost, 2).has_value());
  CHECK_FALSE(checked_mul<std::uint64_t>(std::uint64_t{1} << 32, std::uint64_t{1} << 32).has_value());
  CHECK(checked_add<std::int64_t>(kMost - 1, 1) == kMost);
  CHECK_FALSE(checked_add<std::int64_t>(kMost, 1).has_value());
  CHECK(ceil_div<std::int64_t>(0, 7) == 0);
  CHECK(ceil_div<std::int64_t>(14, 7) == 2);
  CHECK(ceil_div<std::int64_t>(15, 7) == 3);
  CHECK(ceil_div<std::int64_t>(kMost, kMost - 1) == 2);
}

}  // namespace
}  // namespace chunkwise
