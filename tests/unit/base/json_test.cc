#include "base/json.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "throws_code.h"

namespace chunkwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("parse_json takes bare NaN and infinities, and leaves such strings alone") {
  const Json value = parse_json(R"([NaN, Infinity, -Infinity, "NaN", "-Infinity", {"NaN": "a NaN b"}])");
  CHECK(std::isnan(value[0].get<double>()));
  CHECK(value[1].get<double>() == kInfinity);
  CHECK(value[2].get<double>() == -kInfinity);
  CHECK(value[3] == "NaN");
  CHECK(value[4] == "-Infinity");
  CHECK(value[5]["NaN"] == "a NaN b");
  CHECK(dump_json(value) == R"([NaN,Infinity,-Infinity,"NaN","-Infinity",{"NaN":"a NaN b"}])");
}

TEST_CASE("parse_json keeps integers of 64 bits") {
  const Json value = parse_json("[9007199254740993, 18446744073709551615, -9223372036854775808, 0, -0, -1]");
  CHECK(value[0].is_number_integer());
  CHECK(value[0].get<std::int64_t>() == 9007199254740993);
  CHECK(value[1].is_number_unsigned());
  CHECK(value[1].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(value[2].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(dump_json(value) == "[9007199254740993,18446744073709551615,-9223372036854775808,0,0,-1]");
  for (const char* longer : {"18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"}) {
    CHECK_FALSE(parse_json(longer).is_number());
    CHECK(dump_json(parse_json(longer)) == longer);
  }
  CHECK(to_double(parse_json("18446744073709551616")) == 0x1p64);
  CHECK(to_double(parse_json("-3")) == -3.0);
  CHECK_FALSE(to_double(parse_json("\"3\"")));
}

TEST_CASE("parse_json reads floating numbers of any size") {
  CHECK(parse_json("1.0").is_number_float());
  CHECK(parse_json("1e2").get<double>() == 100);
  CHECK(parse_json("-1.5E-3").get<double>() == -0.0015);
  CHECK(parse_json("1e400").get<double>() == kInfinity);
  CHECK(parse_json("-1e400").get<double>() == -kInfinity);
  CHECK(parse_json("1e-400").get<double>() == 0);
  CHECK(std::signbit(parse_json("-1e-400").get<double>()));
  CHECK(parse_json("4.9e-324").get<double>() == std::numeric_limits<double>::denorm_min());
  CHECK(to_double(parse_json(std::string(400, '9'))) == kInfinity);
  CHECK(std::signbit(parse_json("-0.0").get<double>()));
}

TEST_CASE("parse_json keeps the order of members; of duplicates the last wins") {
  const Json value = parse_json(R"({"z": 1, "a": 2, "m": 3, "a": 4})");
  CHECK(dump_json(value) == R"({"z":1,"a":4,"m":3})");
  std::string large = "{";
  for (int i = 0; i < 20000; ++i) large += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  large += R"("key3": -3, "key19999": -1})";
  const Json object = parse_json(large);
  CHECK(object.size() == 20000);
  CHECK(object["key3"] == -3);
  CHECK(object["key19999"] == -1);
  CHECK(object["key500"] == 500);
}

TEST_CASE("parse_json reads strings") {
  CHECK(parse_json(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(parse_json(R"("\u00e9\u20ac\ud83d\ude00\u0041")") == "\u00e9\u20ac\U0001F600A");
  CHECK(parse_json("\"\u00e9\u20ac\U0001F600\"") == "\u00e9\u20ac\U0001F600");
  CHECK(parse_json(R"("a\u0000b")").get<std::string>() == std::string("a\0b", 3));
  CHECK(parse_json(R"("")") == "");
}

TEST_CASE("parse_json skips a byte order mark and white space") {
  CHECK(parse_json("\xEF\xBB\xBF { \"a\" :\t[ 1 ,\r\n2 ] , \"b\" : { } } \n") ==
        Json({{"a", {1, 2}}, {"b", Json::object()}}));
  CHECK(parse_json(" [ ] ") == Json::array());
  CHECK(parse_json("true") == true);
  CHECK(parse_json("null").is_null());
}

TEST_CASE("parse_json says where a document is wrong") {
  REQUIRE_ERROR(parse_json(""), Code::corrupt, "line 1, column 1");
  REQUIRE_ERROR(parse_json("{\n  \"a\": 1,\n  \"b\" 2}"), Code::corrupt, "line 3, column 7");
  REQUIRE_ERROR(parse_json("[1, 2"), Code::corrupt, "ends early");
  REQUIRE_ERROR(parse_json("[1] x"), Code::corrupt, "follows the end");
  for (const char* const text : {"[1,]",
                                 "{,}",
                                 "{\"a\":1,}",
                                 "[,1]",
                                 "{\"a\"}",
                                 "{1:2}",
                                 "01",
                                 "1.",
                                 ".5",
                                 "-",
                                 "+1",
                                 "1e",
                                 "0x10",
                                 "nan",
                                 "NAN",
                                 "-NaN",
                                 "Inf",
                                 "tru",
                                 "truex",
                                 "'a'",
                                 "\"a",
                                 "\"\\x\"",
                                 "\"\\u12\"",
                                 "\"\\u12G4\"",
                                 "\"\\ud800\"",
                                 "\"\\ud800\\u0041\"",
                                 "\"\\udc00\"",
                                 "\"a\nb\"",
                                 "\"\xff\"",
                                 "\"\xc0\xaf\"",
                                 "\"\xed\xa0\x80\"",
                                 "\"\xf4\x90\x80\x80\"",
                                 "\"\xe2\x82\"",
                                 "[1 2]",
                                 "{\"a\":1 \"b\":2}",
                                 "[",
                                 "{",
                                 "]",
                                 "\"\\",
                                 "\"\\u",
                                 "{\"a\":"}) {
    INFO(text);
    REQUIRE_ERROR(parse_json(text), Code::corrupt, "invalid JSON at line 1, column");
  }
}

TEST_CASE("parse_json limits nesting") {
  CHECK_NOTHROW(parse_json(std::string(256, '[') + std::string(256, ']')));
  REQUIRE_ERROR(parse_json(std::string(257, '[') + std::string(257, ']')), Code::corrupt, "nested deeper than 256");
  REQUIRE_ERROR(parse_json(std::string(1'000'000, '[')), Code::corrupt, "nested deeper than 256");
  std::string objects;
  for (int i = 0; i < 300; ++i) objects += "{\"a\":";
  REQUIRE_ERROR(parse_json(objects), Code::corrupt, "nested deeper than 256");
}

TEST_CASE("dump_json writes numbers that are recognised again") {
  CHECK(dump_json(1.0) == "1.0");
  CHECK(dump_json(-0.0) == "-0.0");
  CHECK(dump_json(0.1) == "0.1");
  CHECK(dump_json(1e22) == "1e+22");
  CHECK(dump_json(100000.0) == "100000.0");
  CHECK(dump_json(5e-324) == "5e-324");
  CHECK(dump_json(1) == "1");
  CHECK(dump_json(true) == "true");
  CHECK(dump_json(nullptr) == "null");
}

TEST_CASE("dump_json and parse_json return every double bit for bit") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const Json back = parse_json(dump_json(value));
    REQUIRE(back.is_number_float());
    REQUIRE(std::bit_cast<std::uint64_t>(back.get<double>()) == std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("dump_json indents") {
  const Json value = parse_json(R"({"a": [1, {"b": []}], "c": {}})");
  CHECK(dump_json(value, 2) == "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
  CHECK(dump_json(value, 0) == "{\n\"a\": [\n1,\n{\n\"b\": []\n}\n],\n\"c\": {}\n}");
  CHECK(dump_json(value) == R"({"a":[1,{"b":[]}],"c":{}})");
}

TEST_CASE("dump_json escapes strings and refuses what is not UTF-8") {
  CHECK(dump_json(std::string("\"\\/\b\f\n\r\t\x01\x1f\x7f\0", 12)) ==
        "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\"");
  CHECK(dump_json("\u00e9\U0001F600") == "\"\u00e9\U0001F600\"");
  REQUIRE_ERROR(dump_json("\xff"), Code::unsupported, "UTF-8");
  REQUIRE_ERROR(dump_json(Json{{"\xe9", 1}}), Code::unsupported, "UTF-8");
}

TEST_CASE("dump_json does not recurse") {
  Json value = Json::array();
  for (int i = 0; i < 100'000; ++i) {
    Json outer = Json::array();
    outer.push_back(std::move(value));
    value = std::move(outer);
  }
  CHECK(dump_json(value).size() == 200'002);
}

}  // namespace
}  // namespace chunkwise
