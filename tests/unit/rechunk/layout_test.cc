#include "rechunk/layout.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "rechunk/select.h"

using namespace chunkwise;

namespace {

Hierarchy tree() {
  Hierarchy tree;
  tree.groups.push_back(
      {"/", {}, {{"time", 100, true}, {"y", 20, false}, {"x", 30, false}, {"bnds", 2, false}}, 0, {}});
  const auto add = [&](const std::string& path, const Shape& shape, const std::vector<std::string>& dims,
                       Storage storage) {
    ArrayNode node;
    node.meta.path = path;
    node.meta.dtype = *parse_dtype("f4");
    node.meta.shape = shape;
    node.meta.max_shape = shape;
    if (!dims.empty() && dims[0] == "time") node.meta.max_shape[0] = kUnlimited;
    node.meta.dims = dims;
    node.meta.storage = storage;
    node.meta.chunk = shape;
    if (storage == Storage::chunked) node.meta.chunk[0] = 1;
    tree.arrays.push_back(node);
  };
  add("/time", {100}, {"time"}, Storage::chunked);
  add("/T", {100, 20, 30}, {"time", "y", "x"}, Storage::chunked);
  add("/topo", {20, 30}, {"y", "x"}, Storage::contiguous);
  add("/crs", {}, {}, Storage::contiguous);
  add("/g/T", {100, 20, 30}, {"time", "y", "x"}, Storage::contiguous);
  return tree;
}

std::vector<std::string> apply(Hierarchy& t, const std::vector<std::string>& chunks,
                               const std::vector<std::string>& codecs = {}) {
  LayoutRequest request;
  for (const std::string& text : chunks) request.chunks.push_back(parse_chunk_spec(text));
  for (const std::string& text : codecs) request.codecs.push_back(parse_codec_request(text));
  std::vector<std::string> notes;
  apply_layout(request, t, notes);
  return notes;
}

}  // namespace

TEST_CASE("named lengths: others keep theirs, contiguous ones take the whole axis") {
  Hierarchy t = tree();
  apply(t, {"y/5"});
  CHECK(t.arrays[1].meta.chunk == Shape{1, 5, 30});
  CHECK(t.arrays[2].meta.chunk == Shape{5, 30});
  CHECK(t.arrays[2].meta.storage == Storage::chunked);
  CHECK(t.arrays[4].meta.chunk == Shape{100, 5, 30});
  CHECK(t.arrays[3].meta.storage == Storage::contiguous);
  CHECK(t.arrays[0].meta.chunk == Shape{1});
}

TEST_CASE("a variable's own request wins, and keep restores") {
  Hierarchy t = tree();
  apply(t, {"/T:time/50", "time/10,x/all", "topo:keep"});
  CHECK(t.arrays[1].meta.chunk == Shape{50, 20, 30});
  CHECK(t.arrays[4].meta.chunk == Shape{10, 20, 30});
  CHECK(t.arrays[2].meta.storage == Storage::contiguous);
  Hierarchy u = tree();
  apply(u, {"time/10", "T:keep"});  // a bare name means that variable in every group
  CHECK(u.arrays[1].meta.chunk == Shape{1, 20, 30});
  CHECK(u.arrays[4].meta.storage == Storage::contiguous);
}

TEST_CASE("lengths by position, sizes, axis numbers") {
  Hierarchy t = tree();
  const auto notes = apply(t, {"10,5,6"});
  CHECK(t.arrays[1].meta.chunk == Shape{10, 5, 6});
  CHECK(t.arrays[2].meta.storage == Storage::contiguous);
  CHECK(notes.size() == 2);  // time and topo have other ranks
  Hierarchy u = tree();
  apply(u, {"/T:2/7"});
  CHECK(u.arrays[1].meta.chunk == Shape{1, 20, 7});
  Hierarchy v = tree();
  apply(v, {"/T:4KiB"});
  const std::size_t bytes = v.arrays[1].meta.chunk_bytes();
  CHECK(bytes <= 4096);
  CHECK(bytes >= 1500);
}

TEST_CASE("too long lengths are cut on fixed axes only, with a note") {
  Hierarchy t = tree();
  const auto notes = apply(t, {"time/500,y/500"});
  CHECK(t.arrays[1].meta.chunk == Shape{500, 20, 30});
  CHECK(t.arrays[2].meta.chunk == Shape{20, 30});
  CHECK_FALSE(notes.empty());
}

TEST_CASE("a request for all never cuts a coordinate into single elements") {
  Hierarchy t = tree();
  t.arrays[0].meta.chunk = Shape{100};
  const auto notes = apply(t, {"time/1"});
  CHECK(t.arrays[0].meta.chunk == Shape{100});
  CHECK(notes.size() == 1);
  apply(t, {"time:time/1"});
  CHECK(t.arrays[0].meta.chunk == Shape{1});
}

TEST_CASE("codecs: replaced, removed, kept, per variable; contiguous arrays get chunks") {
  Hierarchy t = tree();
  const auto notes = apply(t, {}, {"shuffle,deflate:1", "topo:none", "/g/T:zstd:3"});
  CHECK(to_string(t.arrays[1].meta.codecs) == "shuffle,deflate:1");
  CHECK(t.arrays[1].meta.codecs[0].integer("element_bytes", 0) == 4);
  CHECK(t.arrays[2].meta.codecs.empty());
  CHECK(t.arrays[4].meta.storage == Storage::chunked);
  CHECK(to_string(t.arrays[4].meta.codecs) == "zstd:3");
  CHECK(t.arrays[3].meta.codecs.empty());
  CHECK(notes.size() == 1);
}

TEST_CASE("a variable's codecs may be written in their second spelling") {
  Hierarchy t = tree();
  apply(t, {}, {"topo:zlib:9", "/g/T:shuffle,zlib:2", "zlib:3"});
  CHECK(to_string(t.arrays[1].meta.codecs) == "deflate:3");
  CHECK(to_string(t.arrays[2].meta.codecs) == "deflate:9");
  CHECK(to_string(t.arrays[4].meta.codecs) == "shuffle,deflate:2");
}

TEST_CASE("what cannot be read or found is a usage error that helps") {
  Hierarchy t = tree();
  const auto fails = [&](const std::string& chunks, const std::string& hint) {
    try {
      apply(t, {chunks});
      FAIL(chunks << " was accepted");
    } catch (const Error& e) {
      CHECK(e.code() == Code::usage);
      CAPTURE(e.what(), e.hint());
      CHECK(e.hint().find(hint) != std::string::npos);
    }
  };
  fails("tiem/5", "time");
  fails("TT:time/5", "T");
  fails("time/0", "-c");
  fails("time/x", "-c");
  fails("time/-3", "-c");
  fails("", "-c");
  fails(":time/3", "-c");
  fails("1,2,3,4", "");
  fails("fast", "-c");
  apply(t, {"bnds/1"});  // a real dimension that no variable uses is no mistake
}

TEST_CASE("selection keeps coordinates, drops what was excluded") {
  Hierarchy t = tree();
  select_variables(t, {"/g/T"}, {});
  REQUIRE(t.arrays.size() == 2);
  CHECK(t.arrays[0].meta.path == "/time");
  CHECK(t.arrays[1].meta.path == "/g/T");
  Hierarchy u = tree();
  select_variables(u, {}, {"T", "crs"});
  REQUIRE(u.arrays.size() == 2);
  CHECK_THROWS_AS(select_variables(u, {"nothing"}, {}), Error);
}
