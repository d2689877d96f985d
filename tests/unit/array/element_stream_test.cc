#include "array/element_stream.h"

#include <catch2/catch.hpp>

#include <string>

#include "../base/throws_code.h"

using namespace std::string_literals;

namespace chunkwise {
namespace {

std::vector<ElementView> views(const std::vector<std::string>& texts) {
  std::vector<ElementView> elements;
  for (const std::string& text : texts) elements.emplace_back(as_bytes(text));
  return elements;
}

std::vector<std::string> texts_of(const std::vector<ElementView>& elements) {
  std::vector<std::string> texts;
  for (const ElementView& element : elements) texts.emplace_back(as_text(element.bytes()));
  return texts;
}

std::vector<std::string> split(const std::string& stream, const DType& dtype, std::size_t n) {
  std::vector<ElementView> elements;
  split_elements(as_bytes(stream), dtype, n, elements);
  return texts_of(elements);
}

}  // namespace

TEST_CASE("A stream is a count, and each element behind its length") {
  // numcodecs.VLenUTF8().encode(np.array(["", "grün", "a\0b"], object))
  const std::string stream =
      "\3\0\0\0"
      "\0\0\0\0"
      "\5\0\0\0gr\xC3\xBCn"
      "\3\0\0\0a\0b"s;
  const std::vector<std::string> texts{"", "gr\xC3\xBCn", "a\0b"s};
  Bytes joined;
  join_elements(views(texts), joined);
  CHECK(as_text(joined) == stream);
  CHECK(stream_bytes(views(texts)) == stream.size());
  CHECK(split(stream, string_type(), 3) == texts);
}

TEST_CASE("Null is joined as an empty element, and none at all is a count alone") {
  Bytes joined;
  join_elements(std::vector<ElementView>(1), joined);
  CHECK(as_text(joined) == "\1\0\0\0\0\0\0\0"s);
  join_elements({}, joined);
  CHECK(as_text(joined) == "\0\0\0\0"s);
  CHECK(split("\0\0\0\0"s, string_type(), 0).empty());
}

TEST_CASE("Lists have whole items") {
  const DType dtype = list_type(*parse_dtype("i2"));
  CHECK(dtype.name() == "list of i2");
  CHECK(split("\2\0\0\0"
              "\4\0\0\0abcd"
              "\0\0\0\0"s,
              dtype, 2) == std::vector<std::string>{"abcd", ""});
  REQUIRE_ERROR(split("\1\0\0\0"
                      "\3\0\0\0abc"s,
                      dtype, 1),
                Code::corrupt, "no whole number of i2");
}

TEST_CASE("Streams that lie are refused") {
  const DType text = string_type();
  REQUIRE_ERROR(split("\1\0\0"s, text, 1), Code::corrupt, "too few to tell");
  REQUIRE_ERROR(split("\2\0\0\0\0\0\0\0"s, text, 1), Code::corrupt, "holds 2 elements, not 1");
  REQUIRE_ERROR(split("\xFF\xFF\xFF\xFF\0\0\0\0"s, text, 0xFFFFFFFF), Code::corrupt, "too few for 4294967295 elements");
  REQUIRE_ERROR(split("\1\0\0\0\2\0\0\0a"s, text, 1), Code::corrupt, "has 2 bytes, but only 1");
  REQUIRE_ERROR(split("\1\0\0\0\xFF\xFF\xFF\xFF"
                      "abc"s,
                      text, 1),
                Code::corrupt, "has 4294967295 bytes");
  REQUIRE_ERROR(split("\2\0\0\0\3\0\0\0abc\0"s, text, 2), Code::corrupt, "ends before its element 1");
  REQUIRE_ERROR(split("\1\0\0\0\1\0\0\0ab"s, text, 1), Code::corrupt, "1 bytes follow");
  REQUIRE_ERROR(split("\1\0\0\0\1\0\0\0\xFC"s, text, 1), Code::corrupt, "no text in UTF-8");
}

TEST_CASE("Null, empty, and the fill of arrays") {
  const ElementView null;
  const ElementView empty{ByteView()};
  CHECK(null.is_null());
  CHECK_FALSE(empty.is_null());
  CHECK_FALSE(null == empty);
  CHECK(empty == ElementView(as_bytes("")));
  CHECK(ElementView(as_bytes("ab")) == ElementView(as_bytes("ab"s)));
  CHECK_FALSE(ElementView(as_bytes("ab")) == ElementView(as_bytes("ac")));
  ArrayMeta meta;
  CHECK(fill_element(meta).is_null());
  for (const std::string text : {"", "n/a"}) {
    meta.fill = fill_of(ElementView(as_bytes(text)));
    CHECK(fill_element(meta) == ElementView(as_bytes(text)));
  }
  CHECK(fill_of(null).empty());
}

}  // namespace chunkwise
