#include "format/hdf5/first_look.h"

#include <filesystem>
#include <thread>

#include "../base/throws_code.h"
#include "format/hdf5/format.h"
#include "format/hdf5/reader.h"
#include "hdf5_fixture.h"

namespace chunkwise::hdf5 {
namespace {

using namespace testing;

/// One deflated dataset "/T" of 40 chunks.
Recipe make_file(const std::string& path) {
  Recipe recipe;
  recipe.shape = {50, 40};
  recipe.chunk = {7, 9};
  recipe.codecs = "deflate:1";
  const Lock lock;
  const Hid file = owned(lock, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create");
  const Hid dataset = create_dataset(lock, file.get(), recipe);
  write_box(lock, dataset.get(), recipe.shape, whole(recipe.shape));
  return recipe;
}

TEST_CASE("A table made in a child is the same", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a.h5";
  const Recipe recipe = make_file(path);
  const auto file = File::open(path);
  const auto open_array = [&](Locate where) {
    const Lock lock;
    return make_source(file, owned(lock, H5Dopen2(file->id(), "T", H5P_DEFAULT), "open"), meta_of(recipe), where);
  };
  const auto here = open_array(Locate::here);
  const auto there = open_array(Locate::in_child);
  REQUIRE(here->meta().n_stored_chunks == there->meta().n_stored_chunks);
  CHECK(here->meta().stored_bytes == there->meta().stored_bytes);
  for (Index i = 0; i < here->grid().n_chunks(); ++i) {
    const auto a = std::get<StoredAt>(here->locate(ChunkId{i}));
    const auto b = std::get<StoredAt>(there->locate(ChunkId{i}));
    CHECK(a.offset_bytes == b.offset_bytes);
    CHECK(a.length_bytes == b.length_bytes);
  }
}

TEST_CASE("The first look names what is wrong, as opening here would", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a.h5";
  make_file(path);
  CHECK(first_look(path, LookAt::everything).located == std::vector<bool>{true});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 100);
  REQUIRE_ERROR(open(path), Code::corrupt, "truncated file");
  REQUIRE_ERROR(open(scratch / "none.h5"), Code::not_found, "none.h5");
}

TEST_CASE("First looks from several threads do not wait for each other's locks for ever", "[hdf5]") {
  const ScratchDirectory scratch;
  const std::string path = scratch / "a.h5";
  make_file(path);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) open(path)->open_array("/T");
    });
}

}  // namespace
}  // namespace chunkwise::hdf5
