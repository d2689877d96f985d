#include "format/hdf5/source.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "hdf5_fixture.h"

namespace chunkwise::hdf5 {
namespace {

using namespace testing;

struct FileRecipe {
  H5F_libver_t low = H5F_LIBVER_EARLIEST;
  hsize_t userblock = 0;
  H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
};

// Made with the library's own driver.
Hid create_plain(const Lock& lock, const std::string& path, const FileRecipe& recipe) {
  const Hid fapl = owned(lock, H5Pcreate(H5P_FILE_ACCESS), "fapl");
  checked(lock, H5Pset_libver_bounds(fapl.get(), recipe.low, H5F_LIBVER_LATEST), "bounds");
  const Hid fcpl = owned(lock, H5Pcreate(H5P_FILE_CREATE), "fcpl");
  checked(lock, H5Pset_userblock(fcpl.get(), recipe.userblock), "user block");
  checked(lock, H5Pset_file_space_strategy(fcpl.get(), recipe.strategy, false, 1), "strategy");
  return owned(lock, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fcpl.get(), fapl.get()), "create");
}

void make_file(const std::string& path, const FileRecipe& file_recipe, const Recipe& recipe,
               const std::vector<Box>& written) {
  const Lock lock;
  const Hid file = create_plain(lock, path, file_recipe);
  const Hid dataset = create_dataset(lock, file.get(), recipe);
  for (const Box& box : written) write_box(lock, dataset.get(), recipe.shape, box);
}

TEST_CASE("chunked sources agree with the library for every kind of chunk index", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110);
  const hsize_t userblock = GENERATE(hsize_t{0}, hsize_t{4096});
  const std::string codecs = GENERATE("none", "shuffle,deflate:1", "deflate:6,fletcher32");
  const Shape shape{23, 17};
  Recipe recipe{shape, {}, {4, 5}, codecs, Storage::chunked, false, H5D_ALLOC_TIME_DEFAULT, -5};
  const int kind = GENERATE(0, 1, 2, 3, 4);                    // B-tree 1 for the older bounds; else:
  if (kind == 1) recipe.max_shape = {kUnlimited, 17};          // extensible array (0: fixed array)
  if (kind == 2) recipe.max_shape = {kUnlimited, kUnlimited};  // B-tree 2
  if (kind == 3) recipe.chunk = shape;                         // single chunk
  if (kind == 4) recipe.allocate = H5D_ALLOC_TIME_EARLY;       // implicit, without codecs
  make_file(path, {low, userblock}, recipe, {whole(shape)});

  const auto file = File::open(path);
  CHECK(file->userblock_bytes() == userblock);
  CHECK(file->superblock_version() == (low == H5F_LIBVER_EARLIEST ? 0U : low == H5F_LIBVER_V18 ? 2U : 3U));
  CHECK(file->libver_low() == low);
  const auto source = open_source(file, recipe);
  CHECK(source_values(*source) == all_values(shape));
  CHECK(source->meta().n_stored_chunks == source->grid().n_chunks());

  ArrayMeta counted = meta_of(recipe);
  {
    const Lock lock;
    const Hid dataset = owned(lock, H5Dopen2(file->id(), "T", H5P_DEFAULT), "open");
    count_stored(lock, dataset.get(), counted);
  }
  CHECK(counted.stored_bytes == source->meta().stored_bytes);
  CHECK(counted.n_stored_chunks == source->meta().n_stored_chunks);
}

TEST_CASE("chunks never written are absent", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
  const Shape max_shape = GENERATE(Shape{40, 30}, Shape{kUnlimited, 30}, Shape{kUnlimited, kUnlimited});
  const Recipe recipe{{40, 30}, max_shape, {10, 10}, "deflate:1"};
  make_file(path, {low, 512}, recipe, {{{0, 10}, {10, 10}}, {{25, 0}, {10, 5}}});
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(source->meta().n_stored_chunks == 3);
  for (Index id = 0; id < 12; ++id) {
    const bool stored = id == 1 || id == 6 || id == 9;
    CHECK(std::holds_alternative<StoredAt>(source->locate(ChunkId{id})) == stored);
  }
  CHECK(source_values(*source) == library_values(path));
}

TEST_CASE("nothing stored at all is cheap, however large the grid", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe empty{{Index{1} << 40, 8}, {}, {1, 8}, "deflate:1"};
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
  {
    const Lock lock;
    // The fixed array of the newest index would be allocated whole: only extensible shapes can be this large.
    Recipe growing = empty;
    growing.max_shape = {kUnlimited, 8};
    const Hid file = create_plain(lock, path, {low});
    const Hid dataset = create_dataset(lock, file.get(), growing);
    const bool with_chunks = GENERATE(false, true);
    if (with_chunks) {
      // Far apart: the grid must not be walked.
      for (const hsize_t row : {hsize_t{5}, hsize_t{1'000'000}, hsize_t{3}}) {
        const std::array<hsize_t, 2> offset{row, 0};
        const std::array<char, 9> bytes{"notzlib!"};
        checked(lock, H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, offset.data(), 9, bytes.data()), "write");
      }
    }
  }
  const auto file = File::open(path);
  Recipe growing = empty;
  growing.max_shape = {kUnlimited, 8};
  const auto source = open_source(file, growing);
  const Index n_stored = source->meta().n_stored_chunks;
  CHECK((n_stored == 0 || n_stored == 3));
  for (const Index row : {Index{3}, Index{5}, Index{1'000'000}}) {
    CHECK(std::holds_alternative<StoredAt>(source->locate(ChunkId{row})) == (n_stored == 3));
  }
  CHECK(std::holds_alternative<Absent>(source->locate(ChunkId{4})));
  CHECK(std::holds_alternative<Absent>(source->locate(ChunkId{(Index{1} << 40) - 1})));
}

TEST_CASE("edge chunks that the property leaves unfiltered are recognised", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  Recipe recipe{{10, 7}, {kUnlimited, 7}, {4, 7}, "shuffle,deflate:1"};
  recipe.raw_edges = true;
  make_file(path, {H5F_LIBVER_V110, 0}, recipe, {whole(recipe.shape)});
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(std::get<StoredAt>(source->locate(ChunkId{1})).skipped_codecs == 0);
  const auto edge = std::get<StoredAt>(source->locate(ChunkId{2}));
  CHECK(edge.skipped_codecs == 3);
  CHECK(edge.length_bytes == 4 * 7 * 4);
  CHECK(source_values(*source) == all_values(recipe.shape));
}

TEST_CASE("filter masks are kept per chunk", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe recipe{{8}, {}, {2}, "shuffle,deflate:1"};
  const std::vector<std::int32_t> values = all_values(recipe.shape);
  {
    const Lock lock;
    const Hid file = create_plain(lock, path, {H5F_LIBVER_V110, 0});
    const Hid dataset = create_dataset(lock, file.get(), recipe);
    write_box(lock, dataset.get(), recipe.shape, whole(recipe.shape));
    const hsize_t raw_at = 4;
    checked(lock, H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 3, &raw_at, 8, values.data() + 4), "write");
    const CodecChain deflate_only(parse_codecs("deflate:1"), 4);
    CodecChain::Scratch scratch;
    const ByteView encoded = deflate_only.encode(std::as_bytes(std::span(values.data() + 6, 2)), scratch);
    const hsize_t half_at = 6;
    checked(lock, H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 1, &half_at, encoded.size(), encoded.data()), "write");
  }
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(std::get<StoredAt>(source->locate(ChunkId{0})).skipped_codecs == 0);
  CHECK(std::get<StoredAt>(source->locate(ChunkId{2})).skipped_codecs == 3);
  CHECK(std::get<StoredAt>(source->locate(ChunkId{3})).skipped_codecs == 1);
  CHECK(source_values(*source) == values);
}

TEST_CASE("contiguous and compact sources", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const hsize_t userblock = GENERATE(hsize_t{0}, hsize_t{2048});
  const Storage storage = GENERATE(Storage::contiguous, Storage::compact);
  const Shape chunk = GENERATE(Shape{}, Shape{1, 4, 11}, Shape{2, 7, 11});
  Recipe recipe{{5, 7, 11}, {}, chunk};
  recipe.storage = storage;
  make_file(path, {H5F_LIBVER_EARLIEST, userblock}, recipe, {whole(recipe.shape)});
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(source_values(*source) == all_values(recipe.shape));
  CHECK(source->meta().stored_bytes == 5 * 7 * 11 * 4);
  CHECK(source->meta().n_stored_chunks == source->grid().n_chunks());
  if (storage == Storage::contiguous) {
    // The address is absolute.
    std::vector<std::byte> bytes(4);
    file->object().read(std::get<StoredAt>(source->locate(ChunkId{0})).offset_bytes, bytes);
    CHECK(std::to_integer<int>(bytes[0]) == value_at(0));
  }
}

TEST_CASE("scalars, empty arrays and contiguous arrays never written", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const FileRecipe made{H5F_LIBVER_EARLIEST, GENERATE(hsize_t{0}, hsize_t{512})};
  Recipe recipe;
  recipe.storage = Storage::contiguous;
  SECTION("scalar") {
    const Lock lock;
    const Hid out = create_plain(lock, path, made);
    const Hid dataset = create_dataset(lock, out.get(), recipe);
    const std::int32_t value = value_at(0);
    checked(lock, H5Dwrite(dataset.get(), H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "write");
  }
  SECTION("empty") {
    recipe.shape = {0, 4};
    make_file(path, made, recipe, {});
  }
  SECTION("never written") {
    recipe.shape = {6, 4};
    make_file(path, made, recipe, {});
  }
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(source_values(*source) == library_values(path));
  CHECK(source->meta().n_stored_chunks == (recipe.shape.rank() == 0 ? 1 : 0));
}

TEST_CASE("a truncated file is refused with advice", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe recipe{{100, 100}, {}, {10, 100}};
  make_file(path, {}, recipe, {whole(recipe.shape)});
  SECTION("before it was opened") {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 100);
    const Error error = error_of([&] { File::open(path); });
    CHECK(error.code() == Code::corrupt);
    CHECK_THAT(error.what(), Catch::Contains("truncated file") && Catch::Contains(path));
    CHECK(!error.hint().empty());
  }
  SECTION("to less than a superblock") {
    std::filesystem::resize_file(path, 10);
    CHECK(error_of([&] { File::open(path); }).code() == Code::corrupt);
  }
  SECTION("while it is open") {
    const auto file = File::open(path);
    const auto source = open_source(file, recipe);
    std::filesystem::resize_file(path, 4096);
    std::vector<ChunkId> ids;
    for (Index id = 0; id < 10; ++id) ids.push_back(ChunkId{id});
    ReadBatch batch;
    const Error error = error_of([&] { source->read(ids, batch); });
    CHECK(error.code() == Code::corrupt);
    CHECK_THAT(error.what(), Catch::Contains("/T"));
  }
}

TEST_CASE("a chunk address beyond the end of the file is an error of that chunk alone", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe recipe{{4}, {}, {1}};
  make_file(path, {H5F_LIBVER_EARLIEST, 0}, recipe, {whole(recipe.shape)});
  // B-tree version 1: "TREE" 1 0 n ... then keys (size 4, mask 4, offsets 8 + 8) and child addresses.
  std::vector<char> bytes(std::filesystem::file_size(path));
  std::FILE* stream = std::fopen(path.c_str(), "r+b");
  REQUIRE(std::fread(bytes.data(), 1, bytes.size(), stream) == bytes.size());
  const std::string node("TREE\x01\x00\x04\x00", 8);
  const auto tree = std::search(bytes.begin(), bytes.end(), node.begin(), node.end());
  REQUIRE(tree != bytes.end());
  const std::int64_t second_child = (tree - bytes.begin()) + 24 + 24 + 8 + 24;
  const std::uint64_t hostile = GENERATE(std::uint64_t{1} << 40, ~std::uint64_t{1}, std::uint64_t{1} << 63);
  std::fseek(stream, static_cast<long>(second_child), SEEK_SET);
  std::fwrite(&hostile, 1, 8, stream);
  std::fclose(stream);

  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(std::holds_alternative<StoredAt>(source->locate(ChunkId{0})));
  const Error error = error_of([&] { source->locate(ChunkId{1}); });
  CHECK(error.code() == Code::corrupt);
  CHECK_THAT(error.what(), Catch::Contains("chunk 1 of /T lies beyond the end of the file"));
  CHECK(std::holds_alternative<StoredAt>(source->locate(ChunkId{2})));
}

TEST_CASE("chunks of impossible size are refused", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe recipe{{40'000}, {}, {20'000}, GENERATE("none", "deflate:1")};
  {
    const Lock lock;
    const Hid file = create_plain(lock, path, {});
    const Hid dataset = create_dataset(lock, file.get(), recipe);
    const hsize_t at = 20'000;
    const std::vector<char> bytes(recipe.codecs == "none" ? 3 : 4'000'000);
    checked(lock, H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, &at, bytes.size(), bytes.data()), "write");
  }
  const auto file = File::open(path);
  const auto source = open_source(file, recipe);
  CHECK(error_of([&] { source->locate(ChunkId{1}); }).code() == Code::corrupt);
}

TEST_CASE("files that are not HDF5, not there, or taken", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  CHECK(error_of([&] { File::open(path); }).code() == Code::not_found);
  std::FILE* stream = std::fopen(path.c_str(), "wb");
  std::fputs("hello, this is no HDF5 file", stream);
  std::fclose(stream);
  const Error error = error_of([&] { File::open(path); });
  CHECK(error.code() == Code::corrupt);
  CHECK_THAT(error.what(), Catch::Contains("not an HDF5 file"));
}

TEST_CASE("data elsewhere and elements of variable length are refused by name", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  Recipe recipe{{4}, {}, {}};
  recipe.storage = Storage::contiguous;
  std::string words;
  {
    const Lock lock;
    const Hid file = create_plain(lock, path, {H5F_LIBVER_V110});
    const Hid dcpl = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "dcpl");
    const hsize_t n = 4;
    const Hid space = owned(lock, H5Screate_simple(1, &n, nullptr), "space");
    Hid type = owned(lock, H5Tcopy(H5T_STD_I32LE), "type");
    SECTION("external") {
      checked(lock, H5Pset_external(dcpl.get(), "elsewhere", 0, 16), "external");
      words = "external files";
    }
    SECTION("virtual") {
      checked(lock, H5Pset_virtual(dcpl.get(), space.get(), "other.h5", "/x", space.get()), "virtual");
      words = "virtual dataset";
    }
    SECTION("variable length") {
      type = owned(lock, H5Tvlen_create(H5T_STD_I32LE), "type");
      words = "variable length";
    }
    SECTION("reference") {
      type = owned(lock, H5Tcopy(H5T_STD_REF_OBJ), "type");
      words = "references";
    }
    owned(lock, H5Dcreate2(file.get(), "T", type.get(), space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT), "dataset");
  }
  const auto file = File::open(path);
  const Error error = error_of([&] { open_source(file, recipe); });
  CHECK(error.code() == Code::unsupported);
  CHECK_THAT(error.what(), Catch::Contains(words));
}

TEST_CASE("sources of one file serve many threads", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const Recipe recipe{{200, 50}, {}, {3, 50}, "deflate:1"};
  make_file(path, {}, recipe, {whole(recipe.shape)});
  const auto file = File::open(path);
  const std::vector<std::int32_t> expected = all_values(recipe.shape);
  std::atomic<int> n_right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) n_right += source_values(*open_source(file, recipe)) == expected;
      });
    }
  }
  CHECK(n_right == 20);
}

}  // namespace
}  // namespace chunkwise::hdf5
