#include "base/sizes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "throws_code.h"

namespace chunkwise {
namespace {

TEST_CASE("parse_bytes reads what people write") {
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("17 B") == 17);
  CHECK(parse_bytes("2KiB") == 2048);
  CHECK(parse_bytes("64MiB") == 64u << 20);
  CHECK(parse_bytes("64 MiB") == 64u << 20);
  CHECK(parse_bytes(" 64mib ") == 64u << 20);
  CHECK(parse_bytes("1Gi") == 1u << 30);
  CHECK(parse_bytes("1.5G") == 1'500'000'000);
  CHECK(parse_bytes("1.5GB") == 1'500'000'000);
  CHECK(parse_bytes("0.5KiB") == 512);
  CHECK(parse_bytes(".5k") == 500);
  CHECK(parse_bytes("5.k") == 5000);
  CHECK(parse_bytes("1.3KiB") == 1331);
  CHECK(parse_bytes("3kB") == 3000);
  CHECK(parse_bytes("1T") == 1'000'000'000'000);
  CHECK(parse_bytes("2PiB") == std::uint64_t{2} << 50);
  CHECK(parse_bytes("1.23456789012345678901234567890k") == 1234);
  CHECK(parse_bytes("18446744073709551615") == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("parse_bytes refuses the rest and quotes it") {
  for (const char* const text : {"", "MiB", "-1", "+1", "1e9", "12XB", "64MiBs", "1.5", "1.5B", ".", "0x10", "1,000",
                                 "18446744073709551616", "16EiB", "99999999999T", "nan", "1 2"}) {
    INFO(text);
    REQUIRE_ERROR(parse_bytes(text), Code::usage, std::string("'") + text + "'");
  }
}

TEST_CASE("format_bytes") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(17) == "17 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1 KiB");
  CHECK(format_bytes(1536) == "1.5 KiB");
  CHECK(format_bytes(1025) == "1.0 KiB");
  CHECK(format_bytes(64u << 20) == "64 MiB");
  CHECK(format_bytes((1u << 20) - 1) == "1.0 MiB");
  CHECK(format_bytes(std::uint64_t{1023} << 10) == "1023 KiB");
  CHECK(format_bytes(1'900'000'000) == "1.8 GiB");
  CHECK(format_bytes(std::numeric_limits<std::uint64_t>::max()) == "16.0 EiB");
}

TEST_CASE("format_seconds") {
  CHECK(format_seconds(0) == "0 s");
  CHECK(format_seconds(12.1e-9) == "12.1 ns");
  CHECK(format_seconds(3.25e-6) == "3.2 us");
  CHECK(format_seconds(0.0121) == "12.1 ms");
  CHECK(format_seconds(0.99999) == "1.0 s");
  CHECK(format_seconds(3.4) == "3.4 s");
  CHECK(format_seconds(59.94) == "59.9 s");
  CHECK(format_seconds(59.96) == "1 min");
  CHECK(format_seconds(125) == "2 min 5 s");
  CHECK(format_seconds(3599) == "59 min 59 s");
  CHECK(format_seconds(3599.6) == "1.0 h");
  CHECK(format_seconds(4.2 * 3600) == "4.2 h");
  CHECK(format_seconds(100 * 3600) == "4.2 d");
  CHECK(format_seconds(12345 * 86400.0) == "12345 d");
  CHECK(format_seconds(-3.4) == "-3.4 s");
  CHECK(format_seconds(std::nan("")) == "nan s");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "inf s");
}

TEST_CASE("format_count") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(98128) == "98,128");
  CHECK(format_count(-98128) == "-98,128");
  CHECK(format_count(-999) == "-999");
  CHECK(format_count(1234567890) == "1,234,567,890");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

}  // namespace
}  // namespace chunkwise
