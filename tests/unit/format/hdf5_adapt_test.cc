#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "codec/registry.h"
#include "format/hdf5/format.h"

using namespace chunkwise;

namespace {

ArrayNode array(const std::string& path, const Shape& shape, std::vector<std::string> dims = {},
                const std::string& codecs = "none") {
  ArrayNode node;
  node.meta.path = path;
  node.meta.dtype = {DType::Kind::float_, 4, {}};
  node.meta.shape = node.meta.max_shape = node.meta.chunk = shape;
  for (Index& n : node.meta.chunk) n = std::max<Index>(n, 1);
  node.meta.dims = std::move(dims);
  node.meta.codecs = parse_codecs(codecs);
  return node;
}

Hierarchy zarr(std::vector<ArrayNode> arrays, std::vector<std::string> groups = {}) {
  Hierarchy tree;
  tree.format = "zarr3";
  tree.groups.push_back({"/", {}, {}, 0, nullptr});
  for (std::string& path : groups) tree.groups.push_back({std::move(path), {}, {}, 0, nullptr});
  tree.arrays = std::move(arrays);
  return tree;
}

AdaptReport to_nc4(Hierarchy& tree) {
  AdaptReport report;
  hdf5::adapt_nc4(tree, report);
  return report;
}

std::string adapted_codecs(const std::string& codecs) {
  Hierarchy tree = zarr({array("/T", {4, 6}, {"y", "x"}, codecs)});
  to_nc4(tree);
  return to_string(tree.arrays[0].meta.codecs);
}

Attribute number(const std::string& name, DType dtype, std::vector<std::byte> data, Shape shape = {}) {
  Attribute attribute;
  attribute.name = name;
  attribute.value.kind = AttributeValue::Kind::numbers;
  attribute.value.dtype = std::move(dtype);
  attribute.value.data = std::move(data);
  attribute.value.shape = shape;
  return attribute;
}

template <typename T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> data(sizeof value);
  std::memcpy(data.data(), &value, sizeof value);
  return data;
}

}  // namespace

TEST_CASE("codecs become ones that every HDF5 library has") {
  CHECK(adapted_codecs("shuffle,deflate:4") == "shuffle,deflate:4");
  CHECK(adapted_codecs("gzip:6") == "shuffle,deflate:6");
  CHECK(adapted_codecs("zstd:3") == "shuffle,deflate:3");
  CHECK(adapted_codecs("zstd:19") == "shuffle,deflate:9");
  CHECK(adapted_codecs("blosc:lz4:5:shuffle") == "shuffle,deflate:1");
  CHECK(adapted_codecs("blosc:zstd:7:bitshuffle") == "shuffle,deflate:7");
  CHECK(adapted_codecs("shuffle,zstd:3,crc32c") == "shuffle,deflate:3,fletcher32");
  CHECK(adapted_codecs("none") == "none");
}

TEST_CASE("axes without a name get netCDF's, shared within a group but not within an array") {
  Hierarchy tree = zarr({array("/a", {5, 5}), array("/b", {5}), array("/g/c", {5}), array("/d", {7}, {"x"})}, {"/g"});
  to_nc4(tree);
  CHECK(tree.arrays[0].meta.dims == std::vector<std::string>{"phony_dim_1", "phony_dim_2"});
  CHECK(tree.arrays[1].meta.dims == std::vector<std::string>{"phony_dim_1"});
  CHECK(tree.arrays[2].meta.dims == std::vector<std::string>{"phony_dim_3"});
  CHECK(tree.groups[0].dimensions.size() == 3);
  CHECK(tree.groups[1].dimensions.size() == 1);
}

TEST_CASE("HDF5 targets keep nameless axes nameless") {
  Hierarchy tree = zarr({array("/a", {5, 5})});
  AdaptReport report;
  hdf5::adapt_h5(tree, report);
  CHECK(tree.arrays[0].meta.dims.empty());
  CHECK(report.notes.empty());
}

TEST_CASE("a name with two lengths is given to its coordinate variable") {
  Hierarchy tree = zarr({array("/a", {4}, {"x"}), array("/x", {9}, {"x"}), array("/b", {4}, {"x"})});
  const AdaptReport report = to_nc4(tree);
  CHECK(tree.arrays[0].meta.dims[0] == "x_4");
  CHECK(tree.arrays[1].meta.dims[0] == "x");
  CHECK(tree.arrays[2].meta.dims[0] == "x_4");
  CHECK(report.notes.size() == 2);
}

TEST_CASE("dimensions are defined in the group that uses them, shared ones in the root") {
  Hierarchy tree =
      zarr({array("/g/a", {4}, {"x"}), array("/h/b", {4}, {"x"}), array("/h/c", {3}, {"y"})}, {"/g", "/h"});
  to_nc4(tree);
  REQUIRE(tree.groups[0].dimensions.size() == 1);
  CHECK(tree.groups[0].dimensions[0].name == "x");
  REQUIRE(tree.groups[2].dimensions.size() == 1);
  CHECK(tree.groups[2].dimensions[0].name == "y");
}

TEST_CASE("a dimension that a group's name is in the way of is renamed") {
  Hierarchy tree = zarr({array("/a", {4}, {"g"})}, {"/g"});
  to_nc4(tree);
  CHECK(tree.arrays[0].meta.dims[0] == "g_dim");
  CHECK(tree.groups[0].dimensions[0].name == "g_dim");
}

TEST_CASE("an unlimited dimension makes its arrays growable, so chunked") {
  Hierarchy tree = zarr({array("/a", {4, 3}, {"t", "x"})});
  tree.arrays[0].meta.storage = Storage::contiguous;
  tree.groups[0].dimensions.push_back({"t", 4, true});
  to_nc4(tree);
  CHECK(tree.arrays[0].meta.max_shape == Shape{kUnlimited, 3});
  CHECK(tree.arrays[0].meta.storage == Storage::chunked);
  CHECK_NOTHROW(hdf5::check(tree));
}

TEST_CASE("chunks are cut to fixed dimensions; scalars and empty arrays lose theirs") {
  ArrayNode wide = array("/a", {4, 3});
  wide.meta.chunk = {10, 2};
  Hierarchy tree = zarr({wide, array("/s", {}, {}, "zstd:1"), array("/e", {3, 0, 5}, {}, "zstd:1")});
  to_nc4(tree);
  CHECK(tree.arrays[0].meta.chunk == Shape{4, 2});
  CHECK(tree.arrays[1].meta.storage == Storage::contiguous);
  CHECK(tree.arrays[1].meta.codecs.empty());
  CHECK(tree.arrays[2].meta.storage == Storage::contiguous);
  CHECK_NOTHROW(hdf5::check(tree));
}

TEST_CASE("Fortran order becomes C order") {
  Hierarchy tree = zarr({array("/a", {4, 3})});
  tree.arrays[0].meta.layout.axes = {1, 0};
  const AdaptReport report = to_nc4(tree);
  CHECK(tree.arrays[0].meta.layout.axes.rank() == 0);
  CHECK(report.notes.size() == 2);  // and the names of the axes
}

TEST_CASE("what netCDF-4 has no type for is a loss, HDF5 keeps it") {
  const auto make = [] {
    ArrayNode half = array("/half", {4}, {"x"});
    half.meta.dtype.bytes = 2;
    ArrayNode boolean = array("/bool", {4}, {"x"});
    boolean.meta.dtype = {DType::Kind::boolean, 1, {}};
    boolean.attributes.push_back(number("flag", {DType::Kind::boolean, 1, {}}, bytes_of<std::uint8_t>(1)));
    return zarr({half, boolean});
  };
  Hierarchy tree = make();
  CHECK(to_nc4(tree).losses.size() == 2);
  CHECK(tree.arrays.empty());
  tree = make();
  AdaptReport report;
  hdf5::adapt_h5(tree, report);
  CHECK(report.losses.empty());
  CHECK(tree.arrays.size() == 2);
}

TEST_CASE("attributes with no HDF5 form are losses") {
  Hierarchy tree = zarr({});
  Attribute json;
  json.name = "j";
  json.value.json = "{\"a\":[1,null]}";
  Attribute foreign;
  foreign.name = "f";
  foreign.value.kind = AttributeValue::Kind::foreign;
  foreign.value.description = "compound of 2 members";
  tree.groups[0].attributes = {json, foreign, number("CLASS", {DType::Kind::int_, 1, {}}, bytes_of<std::int8_t>(1)),
                               number("h", {DType::Kind::float_, 2, {}}, bytes_of<std::uint16_t>(0x3e00))};
  const AdaptReport report = to_nc4(tree);
  REQUIRE(report.losses.size() == 4);
  CHECK(report.losses[0].object == "/@j");
  REQUIRE(tree.groups[0].attributes.size() == 2);
  CHECK(tree.groups[0].attributes[0].value.texts == std::vector<std::string>{json.value.json});
  CHECK(tree.groups[0].attributes[1].value.data == bytes_of(1.5F));
}

TEST_CASE("_FillValue takes the type of its variable where that is exact") {
  ArrayNode node = array("/a", {4}, {"x"});
  node.meta.dtype = {DType::Kind::int_, 2, {}};
  node.attributes = {number("_FillValue", {DType::Kind::int_, 8, {}}, bytes_of<std::int64_t>(-999))};
  Hierarchy tree = zarr({node});
  CHECK(to_nc4(tree).notes.size() == 1);
  CHECK(tree.arrays[0].attributes[0].value.data == bytes_of<std::int16_t>(-999));

  node.attributes = {number("_FillValue", {DType::Kind::float_, 8, {}}, bytes_of(1e20))};
  tree = zarr({node});
  CHECK(to_nc4(tree).losses.size() == 1);
  CHECK(tree.arrays[0].attributes.empty());
}

TEST_CASE("check names the variable and what to do") {
  const auto message = [](ArrayNode node) {
    try {
      hdf5::check(zarr({std::move(node)}));
    } catch (const Error& error) {
      CHECK(error.code() == Code::unsupported);
      CHECK_FALSE(error.hint().empty());
      CHECK(error.where() == "/T");
      return error.message();
    }
    return std::string("nothing");
  };
  CHECK(message(array("/T", {4, 6})) == "nothing");
  CHECK(message(array("/T", {})).find("scalar") != std::string::npos);
  ArrayNode node = array("/T", {4, 6}, {"y", "x"});
  node.meta.chunk = {5, 6};
  CHECK(message(node) == "a chunk of 5 along dimension y is longer than the 4 elements it can ever have");
  node.meta.max_shape[0] = kUnlimited;
  CHECK(message(node) == "nothing");
  node.meta.storage = Storage::contiguous;
  CHECK(message(node).find("dimension y may grow") != std::string::npos);
  node = array("/T", {70000, 70000});
  CHECK(message(node).find("4 GiB") != std::string::npos);
  node = array("/T", {4}, {}, "crc32c");
  CHECK(message(node).find("crc32c") != std::string::npos);
  node = array("/T", {4}, {}, "deflate:1");
  node.meta.storage = Storage::contiguous;
  CHECK(message(node).find("cannot be encoded") != std::string::npos);
  node = array("/T", {4});
  node.meta.codecs = {{"hdf5-32013", {{"cd", std::vector<std::int64_t>{1, 2}}}}};
  CHECK(message(node) == "nothing");
}
