#include "array/json_attributes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/json.h"

namespace chunkwise {
namespace {

using Kind = AttributeValue::Kind;

template <class T>
AttributeValue numbers(const char* dtype, const Shape& shape, const std::vector<T>& values) {
  AttributeValue value;
  value.kind = Kind::numbers;
  value.dtype = *parse_dtype(dtype);
  value.shape = shape;
  value.data.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(value.data.data(), values.data(), value.data.size());
  return value;
}

AttributeValue texts(const Shape& shape, const std::vector<std::string>& values, bool fixed = false, bool utf8 = true) {
  AttributeValue value;
  value.kind = Kind::text;
  value.shape = shape;
  value.texts = values;
  value.text_form = {fixed, utf8};
  return value;
}

double element_of(const AttributeValue& value) {
  double element = 0;
  REQUIRE(value.data.size() == sizeof(element));
  std::memcpy(&element, value.data.data(), sizeof(element));
  return element;
}

AttributeValue read(const char* json) {
  return attribute_from_json(parse_json(json), {});
}

struct Written {
  std::string json;
  std::string hint;
  bool restored = false;
};

Written write(const AttributeValue& value, bool unwrap = true) {
  Json hint;
  const Json json = attribute_to_json({"a", value, nullptr}, unwrap, {}, hint);
  // Through text, as a store has it.
  const Json stored = parse_json(dump_json(json));
  const AttributeValue back =
      hint.is_null() ? attribute_from_json(stored, {}) : attribute_from_json(stored, parse_json(dump_json(hint)), {});
  return {dump_json(json), hint.is_null() ? "" : dump_json(hint), same_value(back, value)};
}

void check_written(const AttributeValue& value, const std::string& json, const std::string& hint) {
  const Written written = write(value);
  CHECK(written.json == json);
  CHECK(written.hint == hint);
  CHECK(written.restored);
}

TEST_CASE("JSON reads by the default rules") {
  CHECK(same_value(read("5"), numbers<std::int64_t>("i8", {}, {5})));
  CHECK(same_value(read("18446744073709551615"), numbers<std::uint64_t>("u8", {}, {18446744073709551615U})));
  CHECK(same_value(read("0.5"), numbers<double>("f8", {}, {0.5})));
  CHECK(same_value(read("[1,2]"), numbers<std::int64_t>("i8", {2}, {1, 2})));
  CHECK(same_value(read("[1,2.5]"), numbers<double>("f8", {2}, {1, 2.5})));
  CHECK(same_value(read("[1,9223372036854775808]"), numbers<std::uint64_t>("u8", {2}, {1, 9223372036854775808U})));
  CHECK(same_value(read("\"NaN\""), texts({}, {"NaN"})));
  CHECK(same_value(read("[\"a\",\"\"]"), texts({2}, {"a", ""})));
  CHECK(std::isnan(element_of(read("NaN"))));
  for (const char* json : {"true", "null", "[]", "{}", "{\"a\":[1]}", "[1,\"a\"]", "[[1,2]]", "[true]", "[1,null]",
                           "[-1,9223372036854775808]"}) {
    const AttributeValue value = read(json);
    CHECK(value.kind == Kind::json);
    CHECK(value.json == json);
  }
}

TEST_CASE("What the default rules restore has no hint") {
  check_written(numbers<std::int64_t>("i8", {}, {5}), "5", "");
  check_written(numbers<double>("f8", {}, {3}), "3.0", "");
  check_written(numbers<double>("f8", {2}, {0.1, -0.0}), "[0.1,-0.0]", "");
  check_written(texts({}, {"K"}), "\"K\"", "");
  check_written(read("{\"a\":[1,null]}"), "{\"a\":[1,null]}", "");
}

TEST_CASE("Types and shapes come back with hints") {
  check_written(numbers<std::int16_t>("i2", {}, {5}), "5", "\"i2\"");
  check_written(numbers<std::int16_t>("i2", {1}, {5}), "5", "\"i2[1]\"");
  check_written(numbers<std::int16_t>("i2", {3}, {1, 2, 3}), "[1,2,3]", "\"i2\"");
  check_written(numbers<std::int64_t>("i8", {1}, {5}), "5", "\"i8[1]\"");
  check_written(numbers<float>("f4", {}, {0.1F}), "0.10000000149011612", "\"f4\"");
  check_written(numbers<float>("f4", {2, 2}, {1, 2, 3, 4}), "[[1.0,2.0],[3.0,4.0]]", "\"f4[2,2]\"");
  check_written(numbers<std::uint8_t>("bool", {2}, {1, 0}), "[true,false]", "\"bool\"");
  check_written(numbers<std::int32_t>("i4", {0}, {}), "[]", "\"i4[0]\"");
  check_written(numbers<std::int32_t>("i4", {2, 0}, {}), "[[],[]]", "\"i4[2,0]\"");
  check_written(texts({}, {"K"}, true, false), "\"K\"", "\"char\"");
  check_written(texts({1}, {"K"}), "\"K\"", "\"text[1]\"");
  check_written(texts({2}, {"a", "b"}, true, true), "[\"a\",\"b\"]", "\"char-utf8\"");
  check_written(texts({2, 1}, {"a", "b"}), "[[\"a\"],[\"b\"]]", "\"text[2,1]\"");
  AttributeValue empty;
  empty.kind = Kind::empty;
  empty.dtype = *parse_dtype("i2");
  check_written(empty, "[]", "\"empty i2\"");
  empty.empty_is_text = true;
  empty.text_form = {true, false};
  check_written(empty, "\"\"", "\"empty char\"");
}

TEST_CASE("Single numbers keep their brackets where asked") {
  const Written written = write(numbers<std::int16_t>("i2", {1}, {5}), false);
  CHECK(written.json == "[5]");
  CHECK(written.restored);
  CHECK(write(numbers<std::int64_t>("i8", {1}, {5}), false).hint.empty());
}

TEST_CASE("Bytes that JSON cannot spell are kept in the hint") {
  const Written nan = write(numbers<std::uint32_t>("f4", {2}, {0x7FC00001, 0x3F800000}));
  CHECK(nan.json == "[NaN,1.0]");
  CHECK(nan.hint == "{\"type\":\"f4\",\"raw\":\"AQDAfwAAgD8=\"}");
  CHECK(nan.restored);
  const Written latin = write(texts({},
                                    {"20\xB0"
                                     "C"},
                                    true, false));
  CHECK(latin.json ==
        "\"20\xC2\xB0"
        "C\"");
  CHECK(latin.restored);
}

TEST_CASE("A hint that no longer fits is ignored") {
  const auto hinted = [](const char* json, const char* hint) {
    return attribute_from_json(parse_json(json), parse_json(hint), {});
  };
  CHECK(same_value(hinted("300", "\"i1\""), numbers<std::int64_t>("i8", {}, {300})));
  CHECK(same_value(hinted("0.1", "\"f4\""), numbers<double>("f8", {}, {0.1})));
  CHECK(same_value(hinted("\"x\"", "\"i2\""), texts({}, {"x"})));
  CHECK(same_value(hinted("[1,2]", "\"i2[3]\""), numbers<std::int64_t>("i8", {2}, {1, 2})));
  CHECK(same_value(hinted("[1,2]", "\"i2[1]\""), numbers<std::int64_t>("i8", {2}, {1, 2})));
  CHECK(hinted("[1]", "\"empty i2\"").kind == Kind::numbers);
  // Edited numbers under exact bytes keep the type, but not the bytes.
  CHECK(same_value(hinted("2.5", R"({"type":"f4","raw":"AQDAfw=="})"), numbers<float>("f4", {}, {2.5F})));
  for (const char* hint :
       {"3", "null", "{}", "\"\"", "\"i3\"", "\"i2[\"", "\"i2[1\"", "\"i2[-1]\"", "\"i2[1,]\"", "\"i2[]\"",
        "\"i2[99999999999999999999]\"", R"({"type":3})", R"({"type":"i2[4000000000,4000000000]"})"}) {
    CHECK(same_value(hinted("5", hint), numbers<std::int64_t>("i8", {}, {5})));
  }
  for (const char* raw : {"3", "\"\"", "\"AQ==\"", "\"****\"", "[\"AQDAfw==\"]"}) {
    const std::string hint = std::string(R"({"type":"f4","raw":)") + raw + "}";
    CHECK(same_value(hinted("2.5", hint.c_str()), numbers<float>("f4", {}, {2.5F})));
  }
}

TEST_CASE("Zero bytes that fill up a text are in its hint only") {
  const Written padded = write(texts({}, {std::string("ab\0\0", 4)}, true));
  CHECK(padded.json == "\"ab\"");
  CHECK(padded.hint == R"({"type":"char-utf8","raw":["YWIAAA=="]})");
  CHECK(padded.restored);
  const Written latin1 = write(texts({2}, {std::string("\xfc\0", 2), std::string("\0a", 2)}, true, false));
  CHECK(latin1.json == "[\"\xc3\xbc\",\"\\u0000a\"]");
  CHECK(latin1.restored);
  // Of a text of any length they are a part.
  CHECK(write(texts({}, {std::string("ab\0", 3)})).json == "\"ab\\u0000\"");
}

TEST_CASE("JSON that was read is written as it was spelled") {
  const Json object = parse_json(R"({"one":[5],"int":1,"float":1.0,"list":["a"],"deep":{"x":[null]}})");
  const auto attributes = attributes_from_json(object, Json(), {});
  Json again = Json::object();
  for (const Attribute& attribute : attributes) {
    Json hint;
    again[attribute.name] = attribute_to_json(attribute, true, {}, hint);
    CHECK(hint.is_null());
  }
  CHECK(dump_json(again) == dump_json(object));
  // Unless the value has changed.
  Attribute changed = attributes[0];
  changed.value = numbers<std::int16_t>("i2", {}, {7});
  Json hint;
  CHECK(dump_json(attribute_to_json(changed, true, {}, hint)) == "7");
}

}  // namespace
}  // namespace chunkwise
