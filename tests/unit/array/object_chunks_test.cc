#include "array/object_chunks.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "../base/throws_code.h"
#include "../store/scratch_directory.h"

namespace chunkwise {
namespace {

using testing::ScratchDirectory;
using testing::write_file;

Hierarchy tree_of(const std::string& path, bool nameless = false) {
  Hierarchy tree;
  tree.groups.emplace_back().path = "/";
  ArrayMeta& meta = tree.arrays.emplace_back().meta;
  meta.path = path;
  meta.dtype = *parse_dtype("i4");
  meta.shape = meta.max_shape = {4, 6};
  meta.chunk = {2, 3};
  tree.nameless = nameless;
  return tree;
}

TEST_CASE("Keys are spelled as the metadata says") {
  const Shape coords{0, 13, 1};
  CHECK(ChunkKeys{"", false, '.'}.key(coords) == "0.13.1");
  CHECK(ChunkKeys{"a/b/", false, '/'}.key(coords) == "a/b/0/13/1");
  CHECK(ChunkKeys{"a/", true, '/'}.key(coords) == "a/c/0/13/1");
  CHECK(ChunkKeys{"a/", true, '.'}.key(coords) == "a/c.0.13.1");
  CHECK(ChunkKeys{"a/", false, '.'}.key(Shape{}) == "a/0");
  CHECK(ChunkKeys{"a/", true, '/'}.key(Shape{}) == "a/c");
}

TEST_CASE("Only chunks are counted") {
  const ScratchDirectory scratch;
  for (const char* name : {"0.0", "1.1", "0.2", "2.0", "0.00", "0", "0.0.0", "-1.0", "0.1x", ".zarray", "+0.1"}) {
    write_file(scratch / (std::string("dot/") + name), "12345");
  }
  for (const char* name : {"c/0/0", "c/1/1", "c/0/2", "c/2/0", "c/01/0", "c/x", "0/1", "c/1/0/0"}) {
    write_file(scratch / (std::string("nest/") + name), "123");
  }
  const auto store = open_directory_store(scratch.path());
  const ChunkGrid grid({4, 6}, {2, 3});
  const StoredChunks dotted = list_chunks(*store, {"dot/", false, '.'}, grid);
  CHECK(dotted.count() == 2);
  CHECK(dotted.bytes() == 10);
  REQUIRE_ERROR(list_chunks(*store, {"nest/", true, '/'}, grid), Code::corrupt, "nest/c/1/0");
  std::filesystem::remove_all(scratch / "nest/c/1/0");
  CHECK(list_chunks(*store, {"nest/", true, '/'}, grid).count() == 2);
  CHECK(list_chunks(*store, {"none/", true, '/'}, grid).count() == 0);
  CHECK(list_chunks(*store, {"dot/", false, '.'}, ChunkGrid({0, 6}, {2, 3})).count() == 0);
  std::filesystem::create_directory(scratch / "dot/1.0");
  REQUIRE_ERROR(list_chunks(*store, {"dot/", false, '.'}, grid), Code::corrupt, "dot/1.0");
}

TEST_CASE("Chunks are written and read, absent ones are absent") {
  const ScratchDirectory scratch;
  const std::map<std::string, ChunkKeys> keys{{"/v", {"v/", true, '/'}}};
  {
    const auto writer =
        make_object_writer(open_directory_store(scratch.path()), tree_of("/v"), keys, {{"last", "held"}});
    const auto sink = writer->open_array("/v");
    sink->write(ChunkId{3}, {as_bytes("123456789012345678901234"), 0, false});
    sink->write(ChunkId{0}, {{}, 0, true});
    REQUIRE_ERROR(writer->open_array("/w"), Code::not_found, "/v");
    CHECK_FALSE(std::filesystem::exists(scratch / "last"));
    writer->finish();
  }
  CHECK(testing::read_file(scratch / "last") == "held");
  CHECK(testing::read_file(scratch / "v/c/1/1").size() == 24);
  CHECK(testing::n_entries(scratch / "v/c") == 1);

  write_file(scratch / "v/c/0/1", std::string(1000, 'x'));
  const std::shared_ptr<Store> store = open_directory_store(scratch.path());
  const auto stored =
      std::make_shared<const StoredChunks>(list_chunks(*store, keys.at("/v"), ChunkGrid({4, 6}, {2, 3})));
  const bool listed = GENERATE(true, false);
  const auto reader =
      make_object_reader(store, tree_of("/v"), {{"/v", {keys.at("/v"), listed ? stored : nullptr, nullptr}}});
  const auto source = reader->open_array("/v");
  CHECK(std::holds_alternative<Absent>(source->locate(ChunkId{0})));
  CHECK(std::get<StoredAt>(source->locate(ChunkId{3})).length_bytes == 24);
  REQUIRE_ERROR(source->locate(ChunkId{1}), Code::corrupt, "v/c/0/1");
  ReadBatch batch;
  const std::vector<ChunkId> ids{ChunkId{3}, ChunkId{0}};
  source->read(ids, batch);
  REQUIRE(batch.chunks.size() == 2);
  CHECK(as_text(batch.chunks[0].bytes) == "123456789012345678901234");
  CHECK(batch.chunks[1].absent);
  REQUIRE_ERROR(source->read(std::vector<ChunkId>{ChunkId{1}}, batch), Code::corrupt, "chunk 1 of /v");

  if (!listed) return;
  write_file(scratch / "v/c/1/1", "shorter");
  REQUIRE_ERROR(source->read(ids, batch), Code::corrupt, "has 7 bytes, 24 bytes were there before");
  std::filesystem::remove(scratch / "v/c/1/1");
  REQUIRE_ERROR(source->read(ids, batch), Code::corrupt, "is gone");
}

// 70 x 70 chunks of one element, each with its number in it.
class ManyChunks {
 public:
  ManyChunks() : tree_(tree_of("/v")) {
    ArrayMeta& meta = tree_.arrays[0].meta;
    meta.shape = meta.max_shape = {kSide, kSide};
    meta.chunk = {1, 1};
    for (Index id = 0; id < kSide * kSide; ++id) restore(id);
  }

  std::string path_of(Index id) const { return scratch_ / kKeys.key({id / kSide, id % kSide}); }
  void restore(Index id) const {
    write_file(path_of(id), std::string(as_text(as_view(static_cast<std::int32_t>(id)))));
  }

  std::unique_ptr<Reader> open() {
    const std::shared_ptr<Store> store = open_directory_store(scratch_.path());
    Hierarchy tree = tree_;
    const auto chunks = find_chunks_late(store, kKeys, tree.arrays[0].meta);
    return chunks ? make_object_reader(store, std::move(tree), {{"/v", *chunks}}) : nullptr;
  }

  // A chunk that no sample looks at, so that it may be missing without anybody noticing.
  Index unseen() {
    for (Index id = 100;; ++id) {
      std::filesystem::remove(path_of(id));
      const bool seems_complete = open() != nullptr;
      restore(id);
      if (seems_complete) return id;
    }
  }

  static constexpr Index kSide = 70;
  inline static const ChunkKeys kKeys{"v/", true, '/'};

 private:
  static ByteView as_view(const std::int32_t& value) { return std::as_bytes(std::span(&value, 1)); }

  const ScratchDirectory scratch_;
  Hierarchy tree_;
};

TEST_CASE("Of very many chunks that seem to be there each is looked for when it is read") {
  ManyChunks store;
  const Index id = store.unseen();
  const std::vector<ChunkId> ids{ChunkId{7}, ChunkId{id}, ChunkId{4899}};
  ReadBatch batch;

  SECTION("All are there") {
    const auto reader = store.open();
    const ArrayMeta& meta = reader->tree().arrays[0].meta;
    CHECK(meta.count_is_estimate);
    CHECK(meta.stored_bytes == 4900 * 4);
    const auto source = reader->open_array("/v");
    CHECK(std::get<Unlocated>(source->locate(ChunkId{id})).max_bytes == 4);
    source->read(ids, batch);
    REQUIRE(batch.chunks.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      std::int32_t value = 0;
      REQUIRE(batch.chunks[i].bytes.size() == sizeof(value));
      std::memcpy(&value, batch.chunks[i].bytes.data(), sizeof(value));
      CHECK(value == linear(ids[i]));
    }
    CHECK(std::holds_alternative<Unlocated>(source->locate(ChunkId{id})));  // nothing was listed
    reader->take_counts();
    CHECK(meta.count_is_estimate);
    reader->count_exactly();
    CHECK_FALSE(meta.count_is_estimate);
    CHECK(meta.n_stored_chunks == 4900);
    CHECK(std::get<StoredAt>(source->locate(ChunkId{id})).length_bytes == 4);
    std::filesystem::remove(store.path_of(id));
    REQUIRE_ERROR(source->read(ids, batch), Code::corrupt, "is gone, 4 bytes were there before");
  }
  SECTION("One was never written") {
    std::filesystem::remove(store.path_of(id));
    const auto reader = store.open();
    const auto source = reader->open_array("/v");
    source->read(ids, batch);
    CHECK_FALSE(batch.chunks[0].absent);
    CHECK(batch.chunks[1].absent);
    CHECK(batch.chunks[2].bytes.size() == 4);
    CHECK(std::holds_alternative<Absent>(source->locate(ChunkId{id})));
    reader->take_counts();
    CHECK(reader->tree().arrays[0].meta.n_stored_chunks == 4899);
    CHECK_FALSE(reader->tree().arrays[0].meta.count_is_estimate);
  }
  SECTION("One is hidden by a directory") {
    std::filesystem::remove(store.path_of(id));
    std::filesystem::create_directory(store.path_of(id));
    REQUIRE_ERROR(store.open()->open_array("/v")->read(ids, batch), Code::corrupt, "a directory stands where");
  }
  SECTION("One is cut off, one too long, one a link that leads nowhere") {
    write_file(store.path_of(id), "abc");
    REQUIRE_ERROR(store.open()->open_array("/v")->read(ids, batch), Code::corrupt, "has 3 bytes where 4 are due");
    write_file(store.path_of(id), "abcde");
    REQUIRE_ERROR(store.open()->open_array("/v")->read(ids, batch), Code::corrupt, "has 5 bytes where at most 4");
    std::filesystem::remove(store.path_of(id));
    std::filesystem::create_symlink("nowhere", store.path_of(id));
    REQUIRE_ERROR(store.open()->open_array("/v")->read(ids, batch), Code::corrupt, "leads nowhere");
  }
  SECTION("Those of a folder are hidden by a file") {
    const auto reader = store.open();
    const std::string folder = std::filesystem::path(store.path_of(id)).parent_path().string();
    std::filesystem::remove_all(folder);
    write_file(folder, "no folder");
    REQUIRE_ERROR(reader->open_array("/v")->read(ids, batch), Code::corrupt, "no directory of chunks");
  }
  SECTION("Where a sampled one is missing, all are listed") {
    std::filesystem::remove(store.path_of(0));
    CHECK(store.open() == nullptr);
  }
}

TEST_CASE("The only array of a nameless dataset answers to any path") {
  const ScratchDirectory scratch;
  const auto reader = make_object_reader(open_directory_store(scratch.path()), tree_of("/v", true),
                                         {{"/v", {{"", false, '.'}, nullptr, nullptr}}});
  CHECK(reader->open_array("/another")->meta().path == "/v");
}

}  // namespace
}  // namespace chunkwise
