// Shards written by ShardSink and read by ShardSource, through the writer and the reader of objects.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <thread>

#include "../base/throws_code.h"
#include "../store/scratch_directory.h"
#include "array/object_chunks.h"
#include "array/shard_index.h"
#include "array/shard_sink.h"
#include "array/shard_source.h"

namespace chunkwise {
namespace {

using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

const ChunkKeys kKeys{"v/", true, '/'};

// 5 x 7 chunks of 2 x 3 bytes in shards of 2 x 3 chunks: 3 x 3 shards, those at the ends not full.
ArrayMeta sharded(bool index_at_start = false) {
  ArrayMeta meta;
  meta.path = "/v";
  meta.dtype = *parse_dtype("u1");
  meta.shape = meta.max_shape = {9, 20};
  meta.chunk = {2, 3};
  ShardLevel level;
  level.shape = {4, 9};
  level.index_codecs = {CodecSpec{"crc32c", {}}};
  level.index_at_start = index_at_start;
  meta.shards = {level};
  meta.codecs = {CodecSpec{"crc32c", {}}};  // so that any length below the limit is believed
  return meta;
}

Hierarchy tree_of(const ArrayMeta& meta) {
  Hierarchy tree;
  tree.groups.emplace_back().path = "/";
  tree.arrays.emplace_back().meta = meta;
  return tree;
}

std::unique_ptr<Writer> writer_of(const std::string& root, const ArrayMeta& meta,
                                  const EarlierWork* earlier = nullptr) {
  return make_object_writer(open_directory_store(root), tree_of(meta), {{"/v", kKeys}}, {}, earlier);
}

std::string content_of(ChunkId id) {
  return std::string(static_cast<std::size_t>(linear(id) % 5 + 1), static_cast<char>('a' + linear(id) % 26));
}

void write(ArraySink& sink, ChunkId id, bool absent) {
  const std::string content = content_of(id);
  sink.write(id, absent ? EncodedChunk{{}, 0, true} : EncodedChunk{as_bytes(content), 0, false});
}

// What a source says of every chunk must be `absent`, or content_of it.
template <typename IsAbsent>
void check_chunks(const ArraySource& source, const IsAbsent& is_absent) {
  std::vector<ChunkId> ids;
  for (Index i = 0; i < source.grid().n_chunks(); ++i) ids.push_back(ChunkId{i});
  std::shuffle(ids.begin(), ids.end(), std::mt19937(7));
  ReadBatch batch;
  source.read(ids, batch);
  REQUIRE(batch.chunks.size() == ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(std::holds_alternative<Absent>(source.locate(ids[i])) == is_absent(ids[i]));
    CHECK(batch.chunks[i].absent == is_absent(ids[i]));
    if (!is_absent(ids[i])) CHECK(as_text(batch.chunks[i].bytes) == content_of(ids[i]));
  }
}

std::unique_ptr<ArraySource> source_of(const std::string& root, const ArrayMeta& meta) {
  return make_object_reader(open_directory_store(root), tree_of(meta), {{"/v", {kKeys, nullptr, nullptr}}})
      ->open_array("/v");
}

TEST_CASE("Chunks go into shards in any order and from many threads, and come back") {
  for (const bool at_start : {false, true}) {
    const ScratchDirectory scratch;
    const ArrayMeta meta = sharded(at_start);
    const ChunkGrid grid = meta.grid();
    // The first row of shards is absent as a whole, and every third chunk elsewhere.
    const auto is_absent = [&](ChunkId id) { return grid.coords(id)[0] < 2 || linear(id) % 3 == 0; };
    {
      const auto writer = writer_of(scratch.path(), meta);
      {
        const auto sink = writer->open_array("/v");
        std::vector<std::jthread> threads;
        for (Index first = 0; first < 4; ++first) {
          threads.emplace_back([&, first] {
            for (Index i = grid.n_chunks() - 1 - first; i >= 0; i -= 4) write(*sink, ChunkId{i}, is_absent(ChunkId{i}));
          });
        }
      }
      writer->finish();
    }
    CHECK_FALSE(std::filesystem::exists(scratch / "v/c/0/0"));  // no object for a shard without chunks
    CHECK_FALSE(std::filesystem::exists(scratch / "v/c/0/2"));
    CHECK(std::filesystem::exists(scratch / "v/c/1/0"));
    // Nothing but the chunks and the index.
    std::size_t expected = 6 * 16 + 4;
    for (const ChunkId id : grid.overlapping(ChunkGrid(meta.shape, meta.unit()).box(ChunkId{3})))
      expected += is_absent(id) ? 0 : content_of(id).size();
    CHECK(read_file(scratch / "v/c/1/0").size() == expected);
    check_chunks(*source_of(scratch.path(), meta), is_absent);

    ArrayMeta counted = meta;
    find_chunks(open_directory_store(scratch.path()), kKeys, counted);
    Index n = 0;
    for (Index i = 0; i < grid.n_chunks(); ++i) n += is_absent(ChunkId{i}) ? 0 : 1;
    CHECK(counted.n_stored_chunks == n);
    CHECK_FALSE(counted.count_is_estimate);
    std::uint64_t bytes = 0;
    for (const char* key : {"1/0", "1/1", "1/2", "2/0", "2/1", "2/2"})
      bytes += read_file(scratch / (std::string("v/c/") + key)).size();
    CHECK(counted.stored_bytes == bytes);
  }
}

TEST_CASE("A shard appears complete with its last chunk, absent or not") {
  const ScratchDirectory scratch;
  const ArrayMeta meta = sharded();
  const auto writer = writer_of(scratch.path(), meta);
  const auto sink = writer->open_array("/v");
  const std::vector<ChunkId> ids = sink->grid().overlapping({{0, 0}, {4, 9}});
  REQUIRE(ids.size() == 6);
  for (std::size_t i = 0; i < 5; ++i) write(*sink, ids[i], i == 2);
  REQUIRE_ERROR(source_of(scratch.path(), meta)->locate(ids[0]), Code::corrupt, "chunk 0 of /v (key v/c/0/0)");
  write(*sink, ids[5], true);
  CHECK(std::get<StoredAt>(source_of(scratch.path(), meta)->locate(ids[1])).length_bytes == 2);
}

TEST_CASE("Of a large store only some shards are opened to count") {
  const ScratchDirectory scratch;
  ArrayMeta meta = sharded();
  meta.shape = meta.max_shape = {4, 9 * 1000};
  const ChunkGrid grid = meta.grid();
  {
    const auto writer = writer_of(scratch.path(), meta);
    const auto sink = writer->open_array("/v");
    for (Index i = 0; i < grid.n_chunks(); ++i) write(*sink, ChunkId{i}, i % 2 == 0);
  }
  const std::shared_ptr<Store> store = open_directory_store(scratch.path());
  ArrayMeta counted = meta;
  const ObjectChunks chunks = find_chunks(store, kKeys, counted);
  CHECK(counted.count_is_estimate);
  CHECK(counted.n_stored_chunks == grid.n_chunks() / 2);
  const auto reader = make_object_reader(store, tree_of(counted), {{"/v", chunks}});
  reader->count_exactly();
  CHECK_FALSE(reader->tree().arrays[0].meta.count_is_estimate);
  CHECK(reader->tree().arrays[0].meta.n_stored_chunks == grid.n_chunks() / 2);
}

TEST_CASE("A shard that is damaged is never taken for an absent one") {
  const ScratchDirectory scratch;
  const ArrayMeta meta = sharded();
  {
    const auto writer = writer_of(scratch.path(), meta);
    const auto sink = writer->open_array("/v");
    for (Index i = 0; i < sink->grid().n_chunks(); ++i) write(*sink, ChunkId{i}, false);
  }
  const std::string key = scratch / "v/c/0/0";
  const std::string whole = read_file(key);
  const auto expect = [&](const std::string& content, const std::string& says) {
    write_file(key, content);
    const auto source = source_of(scratch.path(), meta);
    REQUIRE_ERROR(source->locate(ChunkId{1}), Code::corrupt, says);
    REQUIRE_ERROR(source->locate(ChunkId{1}), Code::corrupt, "chunk 1 of /v (key v/c/0/0)");
    ReadBatch batch;
    REQUIRE_ERROR(source->read(std::vector<ChunkId>{ChunkId{1}}, batch), Code::corrupt, says);
  };
  expect("", "less than its index");
  expect(whole.substr(1), "inside the index");
  expect(whole.substr(0, whole.size() - 1), "crc32c");
  std::string flipped = whole;
  flipped[flipped.size() - 30] ^= 4;
  expect(flipped, "crc32c");
  std::filesystem::remove(key);
  std::filesystem::create_directory(key);
  ArrayMeta found = meta;
  REQUIRE_ERROR(find_chunks(open_directory_store(scratch.path()), kKeys, found), Code::corrupt, "v/c/0/0");
}

TEST_CASE("Whatever the bytes of a shard are, reading it ends, inside the shard or with an error") {
  const ScratchDirectory scratch;
  ArrayMeta meta = sharded();
  meta.shards[0].index_codecs.clear();  // nothing but the checks stands between the bytes and the reader
  {
    const auto writer = writer_of(scratch.path(), meta);
    const auto sink = writer->open_array("/v");
    for (Index i = 0; i < sink->grid().n_chunks(); ++i) write(*sink, ChunkId{i}, i % 5 == 0);
  }
  const std::string key = scratch / "v/c/0/0";
  const std::string whole = read_file(key);
  const std::vector<ChunkId> ids = meta.grid().overlapping({{0, 0}, {4, 9}});
  std::mt19937 random(11);
  int n_errors = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string content = whole;
    for (int n = 1 + static_cast<int>(random() % 4); n > 0; --n) {
      const std::size_t at = random() % content.size();
      content[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    if (random() % 4 == 0) content.resize(random() % content.size());
    write_file(key, content);
    const auto source = source_of(scratch.path(), meta);
    try {
      ReadBatch batch;
      source->read(ids, batch);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const ChunkRef ref = source->locate(ids[i]);
        const auto* stored = std::get_if<StoredAt>(&ref);
        REQUIRE((stored == nullptr) == batch.chunks[i].absent);
        if (stored == nullptr) continue;
        REQUIRE(stored->offset_bytes + stored->length_bytes <= content.size());
        REQUIRE(as_text(batch.chunks[i].bytes) == content.substr(stored->offset_bytes, stored->length_bytes));
      }
    } catch (const Error& error) {
      REQUIRE(error.code() == Code::corrupt);
      ++n_errors;
    }
  }
  CHECK(n_errors > 1000);
}

TEST_CASE("Shards inside shards are read through both indexes") {
  const ScratchDirectory scratch;
  ArrayMeta meta;
  meta.path = "/v";
  meta.dtype = *parse_dtype("u1");
  meta.shape = meta.max_shape = {8};
  meta.chunk = {1};
  ShardLevel outer;
  outer.shape = {4};
  ShardLevel inner;
  inner.shape = {2};
  inner.index_at_start = true;
  meta.shards = {outer, inner};
  // An inner shard with its index first, in an outer one with its index last; only chunks 2 and 3 of 0 to 7.
  const ShardIndexForm inner_form(inner, {1});
  const ShardIndexForm outer_form(outer, {2});
  CodecChain::Scratch codec;
  const std::vector<ShardEntry> inside{{32, 1}, {33, 1}};
  std::string shard = "gap" + std::string(as_text(inner_form.encode(inside, codec))) + "xy";
  shard += as_text(outer_form.encode(std::vector<ShardEntry>{{}, {3, 34}}, codec));
  write_file(scratch / "v/c/0", shard);
  const auto source = source_of(scratch.path(), meta);
  ReadBatch batch;
  const std::vector<ChunkId> ids{ChunkId{3}, ChunkId{0}, ChunkId{2}, ChunkId{5}};
  source->read(ids, batch);
  CHECK(as_text(batch.chunks[0].bytes) == "y");
  CHECK(batch.chunks[1].absent);
  CHECK(as_text(batch.chunks[2].bytes) == "x");
  CHECK(batch.chunks[3].absent);
  CHECK(std::get<StoredAt>(source->locate(ChunkId{3})).offset_bytes == 3 + 33);

  // The inner shard may not speak of what lies outside of it.
  const std::vector<ShardEntry> wrong{{32, 1}, {33, 2}};
  shard = "gap" + std::string(as_text(inner_form.encode(wrong, codec))) + "xy";
  shard += as_text(outer_form.encode(std::vector<ShardEntry>{{}, {3, 34}}, codec));
  write_file(scratch / "v/c/0", shard);
  REQUIRE_ERROR(source_of(scratch.path(), meta)->locate(ChunkId{3}), Code::corrupt, "beyond its end");
}

TEST_CASE("Indexes are kept within a bound and read again when needed") {
  const ScratchDirectory scratch;
  ArrayMeta meta = sharded();
  meta.chunk = {1, 1};
  meta.shards[0].shape = {512, 512};  // an index of 4 MiB
  meta.shape = meta.max_shape = {512, 512 * 5};
  {
    const auto writer = writer_of(scratch.path(), meta);
    const auto sink = writer->open_array("/v");
    for (Index i = 0; i < sink->grid().n_chunks(); ++i) write(*sink, ChunkId{i}, i % 1000 != 0);
  }
  CHECK(ShardSource::most_index_bytes(meta) < (21u << 20));
  const auto source = source_of(scratch.path(), meta);
  for (int round = 0; round < 2; ++round)
    for (const Index i : {0, 1000, 2000, 512 * 5 * 100 + 1000, 512 * 5 * 25})
      CHECK(std::holds_alternative<StoredAt>(source->locate(ChunkId{i})) == (i % 1000 == 0));
}

TEST_CASE("A writer goes on with shards that another process began") {
  for (const bool at_start : {false, true}) {
    const ScratchDirectory scratch;
    const ArrayMeta meta = sharded(at_start);
    const ChunkGrid grid = meta.grid();
    const auto is_absent = [](ChunkId id) { return linear(id) % 4 == 1; };
    std::vector<bool> done(static_cast<std::size_t>(grid.n_chunks()));
    std::vector<std::string> states;
    {
      const auto writer = writer_of(scratch.path(), meta);
      const auto sink = writer->open_array("/v");
      const auto write_some = [&](Index begin, Index end, bool counts) {
        for (Index i = begin; i < end; ++i) {
          write(*sink, ChunkId{i}, is_absent(ChunkId{i}));
          done[static_cast<std::size_t>(i)] = counts;
        }
      };
      write_some(0, 10, true);
      states.push_back(*writer->checkpoint());
      write_some(10, 20, true);
      write_some(20, 23, false);  // noted, but the journal does not have them as done
      states.push_back(*writer->checkpoint());
      write_some(23, 27, false);  // and here the process ends
    }
    EarlierWork earlier;
    earlier.for_each_state = [&](const std::function<void(ByteView)>& use) {
      for (const std::string& state : states) use(as_bytes(state));
    };
    earlier.was_done = [&](std::size_t array, ChunkId id) {
      return array == 0 && done[static_cast<std::size_t>(linear(id))];
    };
    {
      const auto writer = writer_of(scratch.path(), meta, &earlier);
      const auto sink = writer->open_array("/v");
      for (Index i = grid.n_chunks() - 1; i >= 0; --i)
        if (!done[static_cast<std::size_t>(i)]) write(*sink, ChunkId{i}, is_absent(ChunkId{i}));
      writer->finish();
    }
    check_chunks(*source_of(scratch.path(), meta), is_absent);

    // An object that has lost what was durable cannot be continued.
    write_file(scratch / "v/c/0/1", "x");
    done[3] = false;
    REQUIRE_ERROR(writer_of(scratch.path(), meta, &earlier), Code::unsupported, "v/c/0/1");
  }
}

}  // namespace
}  // namespace chunkwise
