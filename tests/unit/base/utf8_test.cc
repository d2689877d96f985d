#include "base/utf8.h"

#include <catch2/catch.hpp>

using namespace std::string_literals;

namespace chunkwise {

TEST_CASE("Well-formed UTF-8 of every length") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("plain text, longer than one word of eight bytes"));
  CHECK(is_utf8("\0"s));
  CHECK(
      is_utf8("gr\xC3\xBC\xC3\x9F"
              "e aus M\xC3\xBCnchen"));
  CHECK(is_utf8("\xE2\x82\xAC"));
  CHECK(is_utf8("\xF0\x9F\x8C\x8D and \xF4\x8F\xBF\xBF"));
}

TEST_CASE("What is no UTF-8") {
  CHECK_FALSE(is_utf8("12345678\xFC"));
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("\xC3"));              // ends early
  CHECK_FALSE(is_utf8("\xC3("));             // no continuation
  CHECK_FALSE(is_utf8("\xC0\x80"));          // overlong
  CHECK_FALSE(is_utf8("\xE0\x80\x80"));      // overlong
  CHECK_FALSE(is_utf8("\xF0\x80\x80\x80"));  // overlong
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));      // a surrogate
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));  // above U+10FFFF
  CHECK_FALSE(is_utf8("\xF5\x80\x80\x80"));
}

TEST_CASE("Latin-1 becomes UTF-8") {
  CHECK(latin1_to_utf8("gr\xFC\xDF"s) == "gr\xC3\xBC\xC3\x9F");
  CHECK(latin1_to_utf8("\x80"s) == "\xC2\x80");
  CHECK(latin1_to_utf8("a\0b"s) == "a\0b"s);
}

}  // namespace chunkwise
