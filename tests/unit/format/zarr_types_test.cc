#include <catch2/catch.hpp>

#include <cstring>
#include <string>

#include "../base/throws_code.h"
#include "array/numpy_type.h"
#include "array/type_hints.h"
#include "base/json.h"
#include "format/zarr3/grid.h"
#include "format/zarr3/registered_types.h"
#include "format/zarr3/types.h"

namespace chunkwise {
namespace {

std::string v2_again(const char* json) {
  const NumpyType type = parse_numpy_type(parse_json(json));
  CHECK(type.unsupported.empty());
  return dump_json(print_numpy_type(type.dtype, type.byte_order));
}

std::string v3_again(const char* json) {
  const zarr3::ParsedType type = zarr3::parse_type(parse_json(json));
  CHECK(type.unsupported.empty());
  return dump_json(zarr3::print_type(type.dtype));
}

std::string bits(const char* name, const char* json) {
  std::byte bytes[4] = {};
  const auto type = zarr3::find_registered_type(name);
  REQUIRE(type);
  const MutableByteView out(bytes, type->bytes);
  if (!zarr3::read_registered_fill(parse_json(json), name, out)) return "none";
  return dump_json(zarr3::print_registered_fill(name, out));
}

ArrayMeta grid(Shape shape, const char* json) {
  ArrayMeta meta;
  meta.shape = shape;
  meta.unsupported = zarr3::parse_grid(parse_json(json), meta);
  return meta;
}

}  // namespace

TEST_CASE("Types of Zarr v2 are printed as they were read") {
  for (const char* json : {"\"|b1\"", "\"|i1\"", "\">i4\"", "\"<u8\"", "\"<f2\"", "\">c16\"", "\"<M8[ns]\"",
                           "\">m8[10us]\"", "\"<M8\"", "\"|S7\"", "\">U3\"", "\"|V5\"", "\"<f16\"",
                           R"([["a","<i4"],["b",">f8",[2,3]],["c",[["x","|u1"],["y","<U2"]]]])",
                           R"([["a","|u1"],["","|V3"],["b","<f4"]])"})
    CHECK(v2_again(json) == json);
  CHECK(v2_again(R"([["a","<f4",3]])") == R"([["a","<f4",[3]]])");
}

TEST_CASE("Types that are none are corrupt, objects are not handled") {
  for (const char* json :
       {"\"f4\"", "\"<f3\"", "\"|f4\"", "\"<M8[fortnight]\"", "\"<M8[0s]\"", "\"<M4[s]\"", "\"<S\"", "\"<S5x\"",
        "\"<x4\"", "\"<V99999999999999999999\"", "[]", "[[\"a\"]]", "[[\"a\",\"<f4\"],[\"a\",\"<f4\"]]",
        "[[\"\",\"<f4\"]]", "[[\"a\",\"<f4\",[-1]]]", "[[\"a\",\"<f4\",[4611686018427387904,4]]]", "3", "{}"})
    REQUIRE_ERROR(parse_numpy_type(parse_json(json)), Code::corrupt);
  CHECK(parse_numpy_type(Json("|O")).unsupported == "data type |O");
  CHECK(parse_numpy_type(parse_json(R"([["a","|O"]])")).unsupported == "structured data type with a field of type |O");
  CHECK(parse_numpy_type(Json("|S0")).unsupported == "data type |S0");
}

TEST_CASE("Types of Zarr v3 are read in all their names") {
  for (
      const char* json :
      {"\"bool\"", "\"int16\"", "\"float16\"", "\"complex64\"", "\"complex_float16\"", "\"bfloat16\"", "\"int4\"",
       R"({"name":"numpy.datetime64","configuration":{"unit":"us","scale_factor":10}})",
       R"({"name":"raw_bytes","configuration":{"length_bytes":3}})",
       R"({"name":"fixed_length_utf32","configuration":{"length_bytes":8}})",
       R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int8"},{"name":"b","data_type":{"name":"struct","configuration":{"fields":[{"name":"c","data_type":"float32"}]}}}]}})"})
    CHECK(v3_again(json) == json);
  CHECK(v3_again("{\"name\":\"int32\"}") == "\"int32\"");
  CHECK(v3_again("\"complex_float32\"") == "\"complex64\"");
  CHECK(v3_again("\"r24\"") == R"({"name":"raw_bytes","configuration":{"length_bytes":3}})");
  CHECK(v3_again("{\"name\":\"numpy.timedelta64\",\"configuration\":{\"unit\":\"\xCE\xBCs\",\"scale_factor\":1}}") ==
        R"({"name":"numpy.timedelta64","configuration":{"unit":"us","scale_factor":1}})");
  CHECK(v3_again(R"({"name":"structured","configuration":{"fields":[["a","int8"]]}})") ==
        R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int8"}]}})");
  CHECK(zarr3::parse_type(Json("decimal")).unsupported == "data type decimal");
  CHECK(zarr3::parse_type(
            parse_json(R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"string"}]}})"))
            .unsupported == "data type struct with a field of data type string");
  for (const char* json : {"\"\"", "\"r7\"", "\"r0\"", "{}", R"({"name":"raw_bytes"})",
                           R"({"name":"raw_bytes","configuration":{"length_bytes":0}})",
                           R"({"name":"fixed_length_utf32","configuration":{"length_bytes":6}})",
                           R"({"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":0}})",
                           R"({"name":"struct","configuration":{"fields":[]}})",
                           R"({"name":"struct","configuration":{"fields":[["a","int8"],["a","int8"]]}})"})
    REQUIRE_ERROR(zarr3::parse_type(parse_json(json)), Code::corrupt);
}

TEST_CASE("Fill values of registered types have the bits of ml_dtypes") {
  CHECK(bits("bfloat16", "1.0") == "\"0x3f80\"");
  CHECK(bits("bfloat16", "\"NaN\"") == "\"0x7fc0\"");
  CHECK(bits("bfloat16", "\"-Infinity\"") == "\"0xff80\"");
  CHECK(bits("bfloat16", "3.14159") == "\"0x4049\"");
  CHECK(bits("float8_e4m3", "\"NaN\"") == "\"0x7c\"");
  CHECK(bits("float8_e4m3", "240.0") == "\"0x77\"");
  CHECK(bits("float8_e4m3fn", "448.0") == "\"0x7e\"");
  CHECK(bits("float8_e4m3fn", "\"NaN\"") == "\"0x7f\"");
  CHECK(bits("float8_e4m3fnuz", "\"NaN\"") == "\"0x80\"");
  CHECK(bits("float8_e4m3fnuz", "-0.0") == "\"0x00\"");
  CHECK(bits("float8_e4m3b11fnuz", "1.0") == "\"0x58\"");
  CHECK(bits("float8_e5m2", "\"Infinity\"") == "\"0x7c\"");
  CHECK(bits("float8_e5m2", "-2.5") == "\"0xc1\"");
  CHECK(bits("float8_e5m2fnuz", "1.0") == "\"0x40\"");
  CHECK(bits("float8_e3m4", "1.0") == "\"0x30\"");
  CHECK(bits("float8_e8m0fnu", "1.0") == "\"0x7f\"");
  CHECK(bits("float8_e8m0fnu", "\"NaN\"") == "\"0xff\"");
  CHECK(bits("float4_e2m1fn", "6.0") == "\"0x07\"");
  CHECK(bits("float6_e2m3fn", "7.5") == "\"0x1f\"");
  CHECK(bits("float6_e3m2fn", "-28.0") == "\"0x3f\"");
  CHECK(bits("complex_bfloat16", "[1.0, \"0x7fc1\"]") == R"(["0x3f80","0x7fc1"])");
  CHECK(bits("int4", "-8") == "-8");
  CHECK(bits("uint2", "3") == "3");
  CHECK(bits("int4", "8") == "none");
  CHECK(bits("uint2", "-1") == "none");
  CHECK(bits("float4_e2m1fn", "\"NaN\"") == "none");
  CHECK(bits("float8_e4m3fn", "1e9") == "none");
}

TEST_CASE("Rectilinear grids that are regular in effect are regular") {
  const auto rectilinear = [](const std::string& shapes) {
    return R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":)" + shapes + "}}";
  };
  const ArrayMeta padded = grid({7, 4}, rectilinear("[3, [[2, 2]]]").c_str());
  CHECK(padded.unsupported.empty());
  CHECK(padded.chunk == Shape{3, 2});
  CHECK(padded.pads_edges);
  const ArrayMeta clipped = grid({7, 4}, rectilinear("[[3, 3, 1], [2, 2]]").c_str());
  CHECK(clipped.unsupported.empty());
  CHECK(clipped.chunk == Shape{3, 2});
  CHECK_FALSE(clipped.pads_edges);
  CHECK(grid({7}, rectilinear("[[3, 3, 3, 3, 5]]").c_str()).unsupported.empty());
  CHECK(grid({0}, rectilinear("[[3]]").c_str()).unsupported.empty());
  for (const char* shapes : {"[[3, 4]]", "[[4, 1, 2]]", "[[[2, 2], 3]]", "[[3, [1, 4]]]"})
    CHECK(grid({7}, rectilinear(shapes).c_str()).unsupported ==
          "chunk grid rectilinear with chunks of several lengths");
  CHECK(grid({7, 7}, rectilinear("[[3, 3, 1], 3]").c_str()).unsupported != "");
  for (const char* shapes : {"[[3, 3]]", "[[]]", "[0]", "[[3, 0]]", "[[[3, 3, 3]]]", "[-1]", "[3, 3]", "3",
                             "[[[4611686018427387904, 4611686018427387904], -1]]"})
    REQUIRE_ERROR(grid({7}, rectilinear(shapes).c_str()), Code::corrupt);
  CHECK(grid({7}, R"({"name":"spiral"})").unsupported == "chunk grid spiral");
}

TEST_CASE("Hints of types fit the elements or are ignored") {
  const auto hinted = [](const char* hint, const char* stored) {
    return hinted_type(parse_json(hint), parse_numpy_type(parse_json(stored)).dtype, {});
  };
  const auto choice = hinted(R"({"enum":"<i2","names":[["off",0],["on",-1]]})", "\"<i2\"");
  REQUIRE(choice);
  CHECK(choice->names == std::vector<DType::Name>{{"off", 0}, {"on", -1}});
  CHECK_FALSE(hinted(R"({"enum":"<i2","names":[["off",0]]})", "\"<i4\""));
  const auto tagged = hinted(R"({"opaque":3,"tag":"jpeg"})", "\"|V3\"");
  REQUIRE(tagged);
  CHECK(tagged->other == "jpeg");
  CHECK(dump_json(type_hint(*tagged, DType(DType::Kind::raw, 3))) == R"({"opaque":3,"tag":"jpeg"})");
  const auto gaps = hinted(R"([["a",{"enum":"<i1","names":[["x",1]]}],["","|V3"]])", R"([["a","|i1"],["f1","|V3"]])");
  REQUIRE(gaps);
  CHECK(gaps->members[1].name.empty());
  CHECK(gaps->members[0].type.names.size() == 1);
  // Byte orders are those of the elements.
  const auto big = hinted(R"([["a","<i2"]])", R"([["a",">i2"]])");
  REQUIRE(big);
  CHECK(big->members[0].byte_order == ByteOrder::big);
  for (const char* bad : {"3", "null", "{}", "\"/no_such_type\"", R"({"enum":"<f4","names":[["a",0]]})",
                          R"({"enum":"<i2","names":[]})", R"([["b","<i2"]])"})
    CHECK_FALSE(hinted(bad, R"([["a","<i2"]])"));
  const std::vector<TypeNode> named = parse_named_types(
      parse_json(R"([["/t",{"enum":"<i1","names":[["x",1]]}],["bad","<i1"],["/u","<q9"],["/t","<i1"],["/v","<c8"]])"));
  REQUIRE(named.size() == 2);
  CHECK(named[1].dtype.named == "/v");
  const auto by_name = hinted_type(Json("/t"), *parse_dtype("i1"), named);
  REQUIRE(by_name);
  CHECK(by_name->named == "/t");
}

}  // namespace chunkwise
