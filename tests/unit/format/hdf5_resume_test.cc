// A file whose writer died, made anew around the chunks that are kept.
#include <hdf5.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "format/hdf5/allocation.h"
#include "hdf5_fixture.h"

namespace chunkwise::hdf5 {
namespace {

using namespace testing;

TEST_CASE("kept ranges leave the gaps between them") {
  KeptRanges kept;
  kept.add(100, 50);
  kept.add(150, 50);
  kept.add(400, 10);
  kept.add(300, 20);
  kept.add(405, 20);
  kept.sort();
  const auto gaps = [&](std::uint64_t begin, std::uint64_t end) {
    std::string found;
    kept.for_each_gap(begin, end, [&](std::uint64_t from, std::uint64_t to) {
      found += std::to_string(from) + "-" + std::to_string(to) + " ";
    });
    return found;
  };
  CHECK(gaps(0, 500) == "0-100 200-300 320-400 425-500 ");
  CHECK(gaps(100, 200).empty());
  CHECK(gaps(120, 130).empty());
  CHECK(gaps(0, 50) == "0-50 ");
  CHECK(gaps(0, 100) == "0-100 ");
  CHECK(gaps(199, 201) == "200-201 ");
  CHECK(gaps(200, 300) == "200-300 ");
  CHECK(gaps(600, 700) == "600-700 ");
  CHECK(gaps(410, 600) == "425-600 ");
}

TEST_CASE("allocations read back") {
  const std::vector<Allocation> some = {{0, ChunkId{7}, 100, 0, 2048}, {3, ChunkId{0}, 1u << 20, 5, 1ull << 40}};
  Packer out;
  pack(out, some);
  const std::vector<Allocation> got = unpack_allocations(out.view());
  REQUIRE(got.size() == 2);
  CHECK(got[1].array == 3);
  CHECK(got[1].address == 1ull << 40);
  CHECK(got[0].chunk == ChunkId{7});
  CHECK(got[1].filter_mask == 5);
  CHECK_THROWS_AS(unpack_allocations(out.view().first(out.view().size() - 1)), Error);
}

CreateOptions options_of(H5F_libver_t low, const Hid& fcpl, const KeptRanges* kept) {
  CreateOptions options;
  options.libver_low = low;
  options.fcpl = fcpl.get();
  options.kept = kept;
  return options;
}

// Raw little-endian values of a chunk, padding included.
std::vector<std::int32_t> chunk_values(const ArrayMeta& meta, ChunkId id) {
  const Box box = meta.grid().full_box(id);
  std::vector<std::int32_t> chunk(static_cast<std::size_t>(product(box.shape)), -5);
  const std::vector<std::int32_t> values = all_values(meta.shape);
  copy_box({whole(meta.shape), {}, box, {}, meta.grid().box(id), {4, 4}},
           reinterpret_cast<const std::byte*>(values.data()), reinterpret_cast<std::byte*>(chunk.data()));
  return chunk;
}

TEST_CASE("a file made anew finds the chunks of the one before, whatever its layout", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110);
  const H5D_alloc_time_t time = GENERATE(H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY);
  const bool pages = GENERATE(false, true);
  if (pages && low != H5F_LIBVER_V110) return;
  CAPTURE(low, time, pages);
  Recipe recipe{{100, 30}, {100, 30}, {4, 8}};
  recipe.allocate = time;
  Recipe linear{{40, 30}, {}, {}};
  linear.storage = Storage::contiguous;
  const ArrayMeta meta = meta_of(recipe);
  const ArrayMeta linear_meta = meta_of(linear);
  const Lock lock;
  const Hid fcpl = owned(lock, H5Pcreate(H5P_FILE_CREATE), "fcpl");
  if (pages) {
    checked(lock, H5Pset_file_space_strategy(fcpl.get(), H5F_FSPACE_STRATEGY_PAGE, true, 1), "pages");
    checked(lock, H5Pset_file_space_page_size(fcpl.get(), 4096), "pages");
  }
  const auto begin = [&](const std::shared_ptr<File>& file) {
    auto a = make_sink(file, create_dataset(lock, file->id(), recipe, "T"), meta, 0);
    auto b = make_sink(file, create_dataset(lock, file->id(), linear, "L"), linear_meta, 1);
    checked(lock, H5Fflush(file->id(), H5F_SCOPE_LOCAL), "flush");
    return std::pair(std::move(a), std::move(b));
  };
  const auto write = [&](Hdf5Sink& sink, const ArrayMeta& array, Index id) {
    if (array.storage == Storage::chunked) {
      const auto chunk = chunk_values(array, ChunkId{id});
      sink.write(ChunkId{id}, {std::as_bytes(std::span(chunk)), 0, false});
    } else {
      const std::vector<std::int32_t> values = all_values(array.shape);
      sink.write(ChunkId{id}, {std::as_bytes(std::span(values)), 0, false});
    }
  };
  REQUIRE(linear_meta.grid().n_chunks() == 1);
  const Index n = meta.grid().n_chunks();

  // Three lives: each writes a part and dies without a word to the file.
  std::vector<Allocation> noted;
  for (int life = 0; life < 3; ++life) {
    KeptRanges kept;
    for (const Allocation& one : noted) kept.add(one.address, one.size_bytes);
    kept.sort();
    const auto file = File::create(path, options_of(low, fcpl, life == 0 ? nullptr : &kept));
    const auto [a, b] = begin(file);
    for (const Allocation& one : noted) (one.array == 0 ? *a : *b).place_again(one);
    file->forget_noted(lock);
    file->forget_kept(lock);
    for (Index id = 0; id < n; ++id)
      if ((id * 7 + 1) % 3 == life) write(*a, meta, id);
    if (life == 1) write(*b, linear_meta, 0);
    for (const Allocation& one : file->checkpoint()) noted.push_back(one);
    // Given a place, but not in the journal: it must not matter.
    if (life == 0)
      for (Index id = 1; id < n; id += 3) write(*a, meta, id);
    if (life == 2) file->finish();
  }
  CHECK(library_values(path, "T") == all_values(meta.shape));
  CHECK(library_values(path, "L") == all_values(linear_meta.shape));
}

TEST_CASE("a place that would be another is refused", "[hdf5]") {
  const ScratchDirectory folder;
  const Recipe recipe{{8, 8}, {8, 8}, {4, 8}};
  const auto file = File::create(folder / "a.h5", {});
  const Lock lock;
  const auto sink = make_sink(file, create_dataset(lock, file->id(), recipe), meta_of(recipe));
  const Error error = error_of([&] { sink->place_again({0, ChunkId{0}, 128, 0, 123456}); });
  CHECK(error.code() == Code::unsupported);
  CHECK_THAT(error.what(), Catch::Contains("would now lie at"));
  CHECK(error_of([&] { sink->place_again({0, ChunkId{99}, 128, 0, 0}); }).code() == Code::corrupt);
}

}  // namespace
}  // namespace chunkwise::hdf5
