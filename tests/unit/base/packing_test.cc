#include "base/packing.h"

#include <catch2/catch.hpp>

#include "base/error.h"

namespace chunkwise {
namespace {

TEST_CASE("packed numbers and texts read back") {
  const std::vector<std::uint64_t> numbers = {0, 1, 127, 128, 300, 1u << 20, ~std::uint64_t{0}, std::uint64_t{1} << 63};
  Packer out;
  for (const std::uint64_t number : numbers) out.number(number);
  out.text("a text");
  out.text("");
  Unpacker in(out.view());
  for (const std::uint64_t number : numbers) CHECK(in.number() == number);
  CHECK(in.text() == "a text");
  CHECK(in.text().empty());
  CHECK(in.at_end());
}

TEST_CASE("packed bytes that end early or make no sense are corrupt") {
  Packer out;
  out.number(300);
  out.text("text");
  for (std::size_t n = 0; n < out.view().size(); ++n) {
    Unpacker in(out.view().first(n));
    CHECK_THROWS_AS((in.number(), in.text()), Error);
  }
  const std::string too_large = std::string(9, '\xff') + '\x02';
  CHECK_THROWS_AS(Unpacker(as_bytes(too_large)).number(), Error);
  const std::string too_long(11, '\xff');
  CHECK_THROWS_AS(Unpacker(as_bytes(too_long)).number(), Error);
}

}  // namespace
}  // namespace chunkwise
