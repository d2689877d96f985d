#include "rechunk/journal.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "../store/scratch_directory.h"
#include "array/tree_hash.h"
#include "base/error.h"

namespace chunkwise {
namespace {

using testing::ScratchDirectory;

ArrayMeta array_of(const std::string& path, Shape shape, Shape chunk) {
  ArrayMeta meta;
  meta.path = path;
  meta.dtype = {DType::Kind::float_, 4, {}};
  meta.shape = shape;
  meta.chunk = chunk;
  return meta;
}

std::vector<ChunkId> ids(std::initializer_list<Index> numbers) {
  std::vector<ChunkId> result;
  for (const Index number : numbers) result.push_back(ChunkId{number});
  return result;
}

Hierarchy tree_of(const std::vector<ArrayMeta>& metas) {
  Hierarchy tree;
  tree.groups.push_back({"/", {}, {}, 0, {}});
  for (const ArrayMeta& meta : metas) tree.arrays.push_back({meta, {}, 0, {}});
  return tree;
}

TEST_CASE("what is done comes back from the journal, with its proofs and the writer's states") {
  const ScratchDirectory folder;
  const std::vector<ArrayMeta> targets = {array_of("/a", Shape{10}, Shape{3}),
                                          array_of("/b", Shape{5, 5}, Shape{1, 5})};
  const ChunkProof proof{ChunkId{3}, 0xfedcba9876543210u, false};
  const ChunkProof absent{ChunkId{4}, 0, true};
  const std::string path = folder / "journal";
  std::ofstream(folder / "source") << "content";
  std::ofstream(folder / "target") << "content";
  {
    WorkIdentity identity = identify(folder / "source", tree_of(targets), "h5", tree_of(targets));
    identity.temporary = "target";
    Journal journal(path, identity);
    DoneChunks done(targets);
    done.add(0, ids({3, 0}), std::vector<ChunkProof>{proof});
    CHECK(done.bytes_done_now() == (3 + 1) * 4);  // the last chunk is clipped
    Packer first;
    done.take(first);
    CHECK(!std::filesystem::exists(path));
    journal.append(0.25, first, as_bytes("one"));
    done.add(1, ids({4, 2, 3}), std::vector<ChunkProof>{absent});
    CHECK(done.n_pending() == 3);
    Packer second;
    done.take(second);
    CHECK(done.n_pending() == 0);
    journal.append(0.5, second, as_bytes("two"));
    CHECK(Journal::open(path) == nullptr);  // held
  }
  const std::unique_ptr<Journal> journal = Journal::open(path);
  REQUIRE(journal != nullptr);
  CHECK(journal->fraction_done() == Approx(0.5));
  CHECK(!what_differs(journal->identity(), identify(folder / "source", tree_of(targets), "h5", tree_of(targets))));
  DoneChunks done(targets);
  journal->restore(done);
  std::string found;
  for (Index i = 0; i < 4; ++i) found += done.was_done(0, ChunkId{i}) ? '1' : '0';
  found += ' ';
  for (Index i = 0; i < 5; ++i) found += done.was_done(1, ChunkId{i}) ? '1' : '0';
  CHECK(found == "1001 00111");
  CHECK(done.n_done_before() == 5);
  CHECK(done.bytes_done_before() == (3 + 1 + 15) * 4);
  CHECK(done.earlier_proofs()[0] == std::vector<ChunkProof>{proof});
  CHECK(done.earlier_proofs()[1] == std::vector<ChunkProof>{absent});
  std::string states;
  journal->for_each_state([&](ByteView state) { states += as_text(state); });
  CHECK(states == "onetwo");
  // Arrays of other sizes.
  DoneChunks other({targets[0]});
  CHECK_THROWS_AS(journal->restore(other), Error);
  DoneChunks smaller({array_of("/a", Shape{3}, Shape{3}), targets[1]});
  CHECK_THROWS_AS(journal->restore(smaller), Error);
}

TEST_CASE("work goes on only from the same source to the same target") {
  const ScratchDirectory folder;
  std::ofstream(folder / "source") << "content";
  const Hierarchy source = tree_of({array_of("/a", Shape{10}, Shape{3})});
  Hierarchy target = tree_of({array_of("/a", Shape{10}, Shape{5})});
  const WorkIdentity earlier = identify(folder / "source", source, "h5", target);
  const auto differs = [&](const WorkIdentity& now) { return what_differs(earlier, now).value_or(""); };

  CHECK(differs(identify(folder / "source", source, "h5", target)).empty());
  CHECK_THAT(differs(identify(folder / "source", source, "nc4", target)), Catch::Contains("h5"));
  CHECK_THAT(differs(identify(folder / "source", tree_of({array_of("/a", Shape{10}, Shape{2})}), "h5", target)),
             Catch::Contains("has changed since (its metadata)"));
  target.arrays[0].meta.chunk = Shape{4};
  CHECK_THAT(differs(identify(folder / "source", source, "h5", target)), Catch::Contains("/a was to get chunks of 5"));
  target.arrays[0].meta.chunk = Shape{5};
  Attribute attribute;
  attribute.name = "units";
  target.arrays[0].attributes.push_back(attribute);
  CHECK(!differs(identify(folder / "source", source, "h5", target)).empty());
  target.arrays[0].attributes.clear();
  target.arrays.push_back({array_of("/b", Shape{1}, Shape{1}), {}, 0, {}});
  CHECK_THAT(differs(identify(folder / "source", source, "h5", target)), Catch::Contains("/b"));
  target.arrays.pop_back();
  WorkIdentity other_program = earlier;
  other_program.program = "rechunk 99";
  CHECK_THAT(differs(other_program), Catch::Contains("rechunk 99"));
  std::ofstream(folder / "source") << "other content";
  CHECK_THAT(differs(identify(folder / "source", source, "h5", target)), Catch::Contains("its size"));
}

TEST_CASE("what changed in a folder after the work began is found, at any depth") {
  const ScratchDirectory folder;
  std::filesystem::create_directories(folder / "source/a/c/0");
  std::ofstream(folder / "source/a/c/0/1") << "chunk";
  std::filesystem::create_symlink("nowhere", folder / "source/a/c/0/2");
  WorkIdentity work;
  work.source = folder / "source";
  work.started_s = static_cast<std::int64_t>(::time(nullptr));
  CHECK(!changed_since(work));
  std::filesystem::last_write_time(folder / "source/a/c/0/1",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(3));
  CHECK(changed_since(work) == folder / "source/a/c/0/1");
  work.source = folder / "source/a/c/0/1";  // of a file the identity has the time
  CHECK(!changed_since(work));
}

TEST_CASE("a journal cut in its first record is empty, one of another kind is refused") {
  const ScratchDirectory folder;
  { RecordLog::create(folder / "empty"); }
  {
    const auto journal = Journal::open(folder / "empty");
    REQUIRE(journal != nullptr);
    CHECK(journal->is_empty());
    CHECK_FALSE(journal->has_checkpoint());
  }
  {
    RecordLog log = RecordLog::create(folder / "other");
    log.append(as_bytes("\x09"));
  }
  CHECK_THROWS_AS(Journal::open(folder / "other"), Error);
}

}  // namespace
}  // namespace chunkwise
