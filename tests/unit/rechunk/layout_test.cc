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

namespace {

/// /T of 100 x 20 x 30 in chunks of 10 x 5 x 8, the others as in tree(); all chunked, as Zarr has it.
Hierarchy chunked_tree() {
  Hierarchy t = tree();
  for (ArrayNode& node : t.arrays) {
    node.meta.storage = Storage::chunked;
    node.meta.max_shape = node.meta.shape;
  }
  t.arrays[1].meta.chunk = {10, 5, 8};
  return t;
}

std::vector<std::string> apply_shards(Hierarchy& t, const std::vector<std::string>& shards,
                                      const std::vector<std::string>& chunks = {}) {
  LayoutRequest request;
  for (const std::string& text : chunks) request.chunks.push_back(parse_chunk_spec(text));
  for (const std::string& text : shards) request.shards.push_back(parse_shard_spec(text));
  std::vector<std::string> notes;
  apply_layout(request, t, notes);
  return notes;
}

}  // namespace

TEST_CASE("shards: lengths are whole chunks, and no longer than the array needs") {
  Hierarchy t = chunked_tree();
  CHECK(apply_shards(t, {"/T:time/50,x/all"}).empty());
  REQUIRE(t.arrays[1].meta.shards.size() == 1);
  CHECK(t.arrays[1].meta.unit() == Shape{50, 5, 32});
  CHECK(t.arrays[1].meta.chunk == Shape{10, 5, 8});
  CHECK(to_string(t.arrays[1].meta.shards[0].index_codecs) == "crc32c");
  CHECK(t.arrays[2].meta.shards.empty());
  t = chunked_tree();
  CHECK(apply_shards(t, {"/T:1000,20,30"}).size() == 2);  // cut to 100 and 32, and it says so
  CHECK(t.arrays[1].meta.unit() == Shape{100, 20, 32});
  t = chunked_tree();
  apply_shards(t, {"/T:24KiB"}, {"/T:10,5,10"});
  CHECK(t.arrays[1].meta.unit() == Shape{60, 10, 10});  // 12 chunks of 2000 bytes
  t = chunked_tree();
  CHECK(apply_shards(t, {"/T:3KiB"}).size() == 1);  // less than two chunks
  CHECK(t.arrays[1].meta.shards.empty());
}

TEST_CASE("shards: what is asked of all variables leaves the small ones alone") {
  Hierarchy t = chunked_tree();
  t.arrays[0].meta.chunk = {20};
  t.arrays[2].meta.chunk = {5, 30};
  const auto notes = apply_shards(t, {"time/50,y/10"});
  CHECK(t.arrays[1].meta.unit() == Shape{50, 10, 8});
  CHECK(t.arrays[0].meta.shards.empty());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "/time: its chunks have 20 elements, so --shards time/50,y/10 does not apply");
  CHECK(t.arrays[2].meta.unit() == Shape{10, 30});
  CHECK(t.arrays[3].meta.shards.empty());
  CHECK(t.arrays[4].meta.shards.empty());  // one chunk
}

TEST_CASE("shards: kept, taken away, and refused where they do not fit") {
  const auto refused = [](Hierarchy t, const std::vector<std::string>& shards, const std::vector<std::string>& chunks,
                          const std::string& says, const std::string& hint) {
    try {
      apply_shards(t, shards, chunks);
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.code() == Code::usage);
      CAPTURE(e.what(), e.hint());
      CHECK(std::string(e.what()).find(says) != std::string::npos);
      CHECK(e.hint().find(hint) != std::string::npos);
    }
  };
  Hierarchy t = chunked_tree();
  refused(t, {"/T:time/25"}, {}, "/T: shards of 25 along time are no multiple of the chunks of 10",
          "time/20 or time/30");
  refused(t, {"/T:time/5"}, {}, "/T: shards of 5 along time are smaller than the chunks of 10", "time/10");
  refused(t, {"/T:tiem/5"}, {}, "no dimension 'tiem' in --shards", "time");
  refused(t, {"/T:auto"}, {}, "cannot read shards", "--shards");
  refused(t, {"/T:contiguous"}, {}, "cannot read shards", "none");
  refused(t, {"1,2,3,4"}, {}, "names 4 axes", "");

  apply_shards(t, {"/T:time/50,y/10"});
  t.arrays[1].meta.shards[0].index_at_start = true;
  Hierarchy kept = t;
  apply_shards(kept, {}, {"/T:time/25"});
  CHECK(kept.arrays[1].meta.shards == t.arrays[1].meta.shards);
  CHECK(kept.arrays[1].meta.chunk == Shape{25, 5, 8});
  refused(t, {}, {"/T:time/20"}, "/T: the source's shards of 50 along time are no multiple of the chunks of 20",
          "time/40 or time/60, or --shards none");
  refused(t, {}, {"/T:y/20"}, "the source's shards of 10 along y are smaller than the chunks of 20", "none");
  Hierarchy other = t;
  apply_shards(other, {"/T:time/100"}, {"/T:time/20"});
  CHECK(other.arrays[1].meta.unit() == Shape{100, 10, 8});
  CHECK(other.arrays[1].meta.shards[0].index_at_start);
  Hierarchy by_size = t;
  const auto notes = apply_shards(by_size, {}, {"/T:9KiB"});
  CHECK(by_size.arrays[1].meta.chunk == Shape{33, 6, 10});
  CHECK(by_size.arrays[1].meta.unit() == Shape{66, 12, 10});
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] == "/T: its shards of 50 x 10 x 8 become 66 x 12 x 10, whole chunks of 33 x 6 x 10");
  Hierarchy without = t;
  apply_shards(without, {"none"});
  CHECK(without.arrays[1].meta.shards.empty());
  CHECK(without.arrays[1].meta.chunk == Shape{10, 5, 8});
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
