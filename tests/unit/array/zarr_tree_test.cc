#include "array/zarr_tree.h"

#include <catch2/catch.hpp>

#include "../base/throws_code.h"
#include "../store/scratch_directory.h"
#include "base/json.h"

namespace chunkwise {
namespace {

ArrayNode array(const std::string& path, const Shape& shape = {}, const std::vector<std::string>& dims = {}) {
  ArrayNode node;
  node.meta.path = path;
  node.meta.shape = shape;
  node.meta.chunk = shape;
  node.meta.dims = dims;
  return node;
}

GroupNode group(const std::string& path) {
  GroupNode node;
  node.path = path;
  return node;
}

std::string dimensions(const Hierarchy& tree) {
  std::string all;
  for (const GroupNode& node : tree.groups) {
    for (const Dimension& d : node.dimensions) all += node.path + ":" + d.name + "=" + std::to_string(d.length) + " ";
  }
  return all;
}

TEST_CASE("Groups that only their children imply are added, and all is in order of path") {
  Hierarchy tree;
  tree.arrays = {array("/b/c/x"), array("/a"), array("/a-b")};
  tree.groups = {group("/b/z")};
  complete_tree(tree);
  std::string groups;
  for (const GroupNode& node : tree.groups) groups += node.path + std::to_string(node.order) + " ";
  CHECK(groups == "/0 /b3 /b/c4 /b/z6 ");
  std::string arrays;
  for (const ArrayNode& node : tree.arrays) arrays += node.meta.path + std::to_string(node.order) + " ";
  CHECK(arrays == "/a1 /a-b2 /b/c/x5 ");
}

TEST_CASE("Trees that contradict themselves are corrupt") {
  Hierarchy below;
  below.arrays = {array("/a"), array("/a/b")};
  REQUIRE_ERROR(complete_tree(below), Code::corrupt, "/a");
  Hierarchy twice;
  twice.arrays = {array("/a")};
  twice.groups = {group("/a")};
  REQUIRE_ERROR(complete_tree(twice), Code::corrupt, "/a");
}

TEST_CASE("Dimensions come from the arrays, the nearest group first") {
  Hierarchy tree;
  tree.arrays = {array("/t", {4, 3}, {"time", "x"}),   array("/u", {3}, {"x"}),
                 array("/g/p", {4, 5}, {"time", "x"}), array("/g/h/q", {5}, {"x"}),
                 array("/g/h/r", {7}, {"odd"}),        array("/g/h/s", {8}, {"odd"}),
                 array("/n", {2, 2}, {"", "y"})};
  complete_tree(tree);
  collect_dimensions(tree);
  CHECK(dimensions(tree) == "/:y=2 /:time=4 /:x=3 /g:x=5 ");
}

TEST_CASE("Node paths in consolidated metadata are relative and plain") {
  for (const char* good : {"a", "a/b", "a.b/.hid", "\xC3\xA9"}) CHECK_NOTHROW(check_node_path(good));
  for (const char* bad : {"", "/a", "a/", "a//b", "..", "a/../b", "./a", "../../etc"}) {
    REQUIRE_ERROR(check_node_path(bad), Code::corrupt);
  }
  REQUIRE_ERROR(check_node_path(std::string("a\0b", 3)), Code::corrupt);
  REQUIRE_ERROR(check_node_path(std::string(5000, 'a')), Code::corrupt);
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep += "/a";
  REQUIRE_ERROR(check_node_path(deep), Code::corrupt);
}

TEST_CASE("A loop of links ends") {
  const testing::ScratchDirectory scratch;
  testing::write_file(scratch / "s/a/file", "");
  std::filesystem::create_directory_symlink("..", scratch / "s/a/up");
  const auto store = open_directory_store(scratch / "s");
  const auto everything = [](const std::string&, const std::vector<Store::Entry>&) { return true; };
  try {
    walk_prefixes(*store, everything);  // a store may well show no links that are not files
  } catch (const Error& error) {
    CHECK((error.code() == Code::corrupt || error.code() == Code::unsupported));
  }
}

TEST_CASE("Arrays without chunks get runs of about 4 MiB") {
  CHECK(default_object_chunk({}, 8) == Shape{});
  CHECK(default_object_chunk({1000}, 8) == Shape{1000});
  CHECK(default_object_chunk({0, 5}, 8) == Shape{1, 5});
  CHECK(default_object_chunk({100, 1024, 1024}, 4) == Shape{1, 1024, 1024});
  CHECK(default_object_chunk({100, 1024, 1000}, 4) == Shape{1, 1024, 1000});
  CHECK(default_object_chunk({100, 4096, 1024}, 4) == Shape{1, 1024, 1024});
  CHECK(default_object_chunk({8, 512, 512}, 4) == Shape{4, 512, 512});
  CHECK(default_object_chunk({Index{1} << 62}, 1) == Shape{Index{4} << 20});
}

TEST_CASE("A store that is one array is named by its directory") {
  CHECK(store_name("/data/t2m.zarr") == "t2m");
  CHECK(store_name("/data/t2m.zarr/") == "t2m");
  CHECK(store_name("/data/t2m.zarr.zip") == "t2m");
  CHECK(store_name("/data/t2m.zip") == "t2m");
  CHECK(store_name("x") == "x");
  CHECK(store_name("a/../b.c") == "b.c");
  CHECK(store_name("/") == "array");
  CHECK_FALSE(store_name(".").empty());
}

}  // namespace
}  // namespace chunkwise
