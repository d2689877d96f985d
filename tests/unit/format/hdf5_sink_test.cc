#include "format/hdf5/sink.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "hdf5_fixture.h"

namespace chunkwise::hdf5 {
namespace {

using namespace testing;

CreateOptions options_for(H5F_libver_t low, std::size_t userblock_bytes = 0) {
  CreateOptions options;
  options.libver_low = low;
  options.userblock.resize(userblock_bytes);
  std::fill_n(options.userblock.data(), userblock_bytes, std::byte{'u'});
  return options;
}

std::unique_ptr<ArraySink> open_sink(const std::shared_ptr<File>& file, const Recipe& recipe,
                                     const std::string& name = "T") {
  const Lock lock;
  return make_sink(file, create_dataset(lock, file->id(), recipe, name), meta_of(recipe));
}

// Encodes and writes the chunks that `wanted` accepts, from several threads.
void write_chunks(ArraySink& sink, const std::function<bool(Index)>& wanted) {
  const ArrayMeta& meta = sink.meta();
  const ChunkGrid& grid = sink.grid();
  const std::vector<std::int32_t> values = all_values(meta.shape);
  std::atomic<Index> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    const CodecChain chain(meta.codecs, 4);
    CodecChain::Scratch scratch;
    Bytes decoded;
    for (Index id = next++; id < grid.n_chunks(); id = next++) {
      if (!wanted(id)) {
        sink.write(ChunkId{id}, {{}, 0, true});
        continue;
      }
      const Box box = meta.pads_edges ? grid.full_box(ChunkId{id}) : grid.box(ChunkId{id});
      decoded.resize(static_cast<std::size_t>(product(box.shape)) * 4);
      fill_elements(decoded.span(), meta.fill);
      copy_box({whole(meta.shape), {}, box, {}, grid.box(ChunkId{id}), {4, 4}},
               reinterpret_cast<const std::byte*>(values.data()), decoded.data());
      if (meta.raw_edges && grid.overhangs(ChunkId{id})) {
        sink.write(ChunkId{id}, {decoded, ~std::uint32_t{0}, false});
      } else {
        sink.write(ChunkId{id}, {chain.encode(decoded, scratch), 0, false});
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        try {
          work();
        } catch (...) {
          const std::lock_guard guard(mutex);
          failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// What the array holds if only the wanted chunks were written.
std::vector<std::int32_t> expected_values(const ArrayMeta& meta, std::int32_t fill,
                                          const std::function<bool(Index)>& wanted) {
  std::vector<std::int32_t> values = all_values(meta.shape);
  const ChunkGrid grid = meta.grid();
  for (Index id = 0; id < grid.n_chunks(); ++id) {
    if (wanted(id)) continue;
    const Box box = grid.box(ChunkId{id});
    const std::vector<std::int32_t> fills(static_cast<std::size_t>(product(box.shape)), fill);
    copy_box({box, {}, whole(meta.shape), {}, box, {4, 4}}, reinterpret_cast<const std::byte*>(fills.data()),
             reinterpret_cast<std::byte*>(values.data()));
  }
  return values;
}

TEST_CASE("chunked sinks make files the library reads, for every kind of chunk index", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110);
  const std::size_t userblock = GENERATE(std::size_t{0}, std::size_t{1024});
  const std::string codecs = GENERATE("none", "shuffle,deflate:1", "zstd:3");
  const H5D_alloc_time_t allocate = GENERATE(H5D_ALLOC_TIME_DEFAULT, H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE);
  const bool sparse = GENERATE(false, true);
  Recipe recipe{{23, 17}, {}, {4, 5}, codecs};
  recipe.allocate = allocate;
  const int kind = GENERATE(0, 1, 2, 3);
  if (kind == 1) recipe.max_shape = {kUnlimited, 17};
  if (kind == 2) recipe.max_shape = {kUnlimited, kUnlimited};
  if (kind == 3) recipe.chunk = {23, 17};
  const auto wanted = [&](Index id) { return !sparse || id % 3 == 1; };
  {
    const auto file = File::create(path, options_for(low, userblock));
    write_chunks(*open_sink(file, recipe), wanted);
    file->finish();
  }
  CHECK(library_values(path) == expected_values(meta_of(recipe), recipe.fill, wanted));
  const auto file = File::open(path);
  CHECK(source_values(*open_source(file, recipe)) == expected_values(meta_of(recipe), recipe.fill, wanted));
  CHECK(file->userblock_bytes() == userblock);
  if (userblock > 0) {
    std::byte last{};
    file->object().read(userblock - 1, {&last, 1});
    CHECK(last == std::byte{'u'});
  }
}

TEST_CASE("repeated chunks: the last one stands, whatever the sizes", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
  const Recipe recipe{{4000}, {}, {1000}, GENERATE("none", "deflate:1")};
  {
    const auto file = File::create(path, options_for(low));
    const auto sink = open_sink(file, recipe);
    const CodecChain chain(sink->meta().codecs, 4);
    CodecChain::Scratch scratch;
    // Noise first (long), then constants (short), then the values.
    std::mt19937 random(1);
    for (int round = 0; round < 2; ++round) {
      for (Index id = 0; id < 4; ++id) {
        std::vector<std::uint32_t> noise(1000, 7);
        if (round == 0) std::generate(noise.begin(), noise.end(), [&] { return static_cast<std::uint32_t>(random()); });
        sink->write(ChunkId{id}, {chain.encode(std::as_bytes(std::span(noise)), scratch), 0, false});
      }
    }
    write_chunks(*sink, [](Index) { return true; });
    write_chunks(*sink, [](Index) { return true; });
    file->finish();
  }
  CHECK(library_values(path) == all_values(recipe.shape));
}

TEST_CASE("filter masks and raw edges are written as the library understands them", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  Recipe recipe{{10, 7}, {kUnlimited, 7}, {4, 7}, "shuffle,deflate:1"};
  SECTION("raw edges") {
    recipe.raw_edges = true;
    {
      const auto file = File::create(path, options_for(H5F_LIBVER_V110));
      write_chunks(*open_sink(file, recipe), [](Index) { return true; });
      file->finish();
    }
    CHECK(library_values(path) == all_values(recipe.shape));
  }
  SECTION("a filtered edge where none may be") {
    recipe.raw_edges = true;
    const auto file = File::create(path, options_for(H5F_LIBVER_V110));
    const auto sink = open_sink(file, recipe);
    const std::vector<std::byte> bytes(4 * 7 * 4);
    CHECK(error_of([&] { sink->write(ChunkId{2}, {bytes, 0, false}); }).code() == Code::internal);
  }
  SECTION("skipped codecs") {
    recipe = {{4}, {}, {2}, "shuffle,deflate:1"};
    const std::vector<std::int32_t> values = all_values(recipe.shape);
    {
      const auto file = File::create(path, options_for(H5F_LIBVER_EARLIEST));
      const auto sink = open_sink(file, recipe);
      sink->write(ChunkId{0}, {std::as_bytes(std::span(values)).first(8), 3, false});
      const CodecChain shuffle_only(parse_codecs("shuffle"), 4);
      CodecChain::Scratch scratch;
      sink->write(ChunkId{1}, {shuffle_only.encode(std::as_bytes(std::span(values)).subspan(8), scratch), 2, false});
      file->finish();
    }
    CHECK(library_values(path) == values);
  }
}

TEST_CASE("chunks without codecs must have their exact size", "[hdf5]") {
  const ScratchDirectory folder;
  const auto file = File::create(folder / "a.h5", options_for(H5F_LIBVER_EARLIEST));
  const auto sink = open_sink(file, {{4}, {}, {2}});
  const std::vector<std::byte> bytes(16);
  for (const std::size_t n : {0U, 7U, 9U, 16U}) {
    CHECK(error_of([&] { sink->write(ChunkId{0}, {ByteView(bytes).first(n), 0, false}); }).code() == Code::corrupt);
  }
  CHECK(error_of([&] { sink->write(ChunkId{2}, {ByteView(bytes).first(8), 0, false}); }).code() == Code::internal);
  CHECK(error_of([&] { sink->write(ChunkId{-1}, {ByteView(bytes).first(8), 0, false}); }).code() == Code::internal);
  sink->write(ChunkId{1}, {{}, 0, true});
}

TEST_CASE("contiguous and compact sinks, whole or in part", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  Recipe recipe{{5, 7, 11}, {}, GENERATE(Shape{}, Shape{1, 4, 11}, Shape{2, 7, 11})};
  recipe.storage = GENERATE(Storage::contiguous, Storage::compact);
  const std::size_t userblock = GENERATE(std::size_t{0}, std::size_t{512});
  if (recipe.storage == Storage::contiguous) {
    recipe.allocate = GENERATE(H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_LATE);
  }
  const Index step = GENERATE(1, 2, 1000);  // every chunk, every other, the first one
  const auto wanted = [&](Index id) { return id % step == 0; };
  CAPTURE(recipe.storage == Storage::compact, recipe.allocate, userblock, step, to_string(recipe.chunk));
  {
    const auto file = File::create(path, options_for(GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110), userblock));
    write_chunks(*open_sink(file, recipe), wanted);
    file->finish();
  }
  CHECK(library_values(path) == expected_values(meta_of(recipe), recipe.fill, wanted));
}

TEST_CASE("scalars, empty arrays and arrays nobody writes", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  Recipe recipe;
  recipe.storage = GENERATE(Storage::contiguous, Storage::compact);
  recipe.shape = GENERATE(Shape{}, Shape{0, 3}, Shape{4, 3});
  const bool writes = GENERATE(true, false);
  {
    const auto file = File::create(path, options_for(H5F_LIBVER_EARLIEST));
    const auto sink = open_sink(file, recipe);
    if (writes) write_chunks(*sink, [](Index) { return true; });
    file->finish();
  }
  CHECK(library_values(path) == expected_values(meta_of(recipe), recipe.fill, [&](Index) { return writes; }));
  if (!writes && recipe.storage == Storage::contiguous) {
    const auto file = File::open(path);
    CHECK(open_source(file, recipe)->meta().stored_bytes == 0);  // still unallocated
  }
}

// As an attribute of variable length on the root.
void write_text(hid_t file, const std::string& name, const std::string& text) {
  const Lock lock;
  const Hid type = owned(lock, H5Tcopy(H5T_C_S1), "type");
  checked(lock, H5Tset_size(type.get(), H5T_VARIABLE), "type");
  const Hid space = owned(lock, H5Screate(H5S_SCALAR), "space");
  const Hid group = owned(lock, H5Gopen2(file, "/", H5P_DEFAULT), "root");
  const Hid attribute = owned(
      lock, H5Acreate2(group.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), "attribute");
  const char* value = text.c_str();
  checked(lock, H5Awrite(attribute.get(), type.get(), &value), "attribute");
}

TEST_CASE("heap data evicted while chunks are placed is not lost", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  // Variable-length attributes live in global heaps, which reach the driver as raw data; a tiny metadata cache makes
  // the library evict them in the middle of placing chunks.
  constexpr int kAttributes = 300;
  const std::string text(1500, 'x');
  {
    const auto file = File::create(path, options_for(H5F_LIBVER_V110));
    {
      const Lock lock;
      H5AC_cache_config_t config{};
      config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
      checked(lock, H5Fget_mdc_config(file->id(), &config), "cache");
      config.set_initial_size = true;
      config.initial_size = config.min_size = config.max_size = 1024;
      config.incr_mode = H5C_incr__off;
      config.decr_mode = H5C_decr__off;
      config.flash_incr_mode = H5C_flash_incr__off;
      config.min_clean_fraction = 0.01;
      checked(lock, H5Fset_mdc_config(file->id(), &config), "cache");
    }
    const auto chunked = open_sink(file, {{400, 100}, {kUnlimited, kUnlimited}, {1, 100}, "deflate:1"});
    Recipe plain{{50, 100}, {}, {}};
    plain.storage = Storage::contiguous;
    const auto contiguous = open_sink(file, plain, "plain");
    for (int i = 0; i < kAttributes; ++i) {
      write_text(file->id(), "a" + std::to_string(i), text);
      if (i % 50 == 49) write_chunks(*chunked, [&](Index id) { return id % 6 == i / 50; });
    }
    write_chunks(*contiguous, [](Index) { return true; });
    file->finish();
  }
  CHECK(library_values(path) == all_values({400, 100}));
  CHECK(library_values(path, "plain") == all_values({50, 100}));
  const Lock lock;
  const Hid file = owned(lock, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open");
  for (int i = 0; i < kAttributes; ++i) {
    const Hid attribute = owned(lock, H5Aopen(file.get(), ("a" + std::to_string(i)).c_str(), H5P_DEFAULT), "attribute");
    const Hid type = owned(lock, H5Aget_type(attribute.get()), "type");
    char* value = nullptr;
    checked(lock, H5Aread(attribute.get(), type.get(), &value), "attribute");
    CHECK(text == value);
    H5free_memory(value);
  }
}

TEST_CASE("a filter nobody knows can be carried along", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  constexpr int kFilter = 32099;
  {
    const auto file = File::create(path, options_for(H5F_LIBVER_EARLIEST));
    const Lock lock;
    make_filter_known(lock, kFilter, "mystery");
    make_filter_known(lock, kFilter, "mystery");
    const Hid dcpl = owned(lock, H5Pcreate(H5P_DATASET_CREATE), "dcpl");
    const hsize_t n = 4;
    checked(lock, H5Pset_chunk(dcpl.get(), 1, &n), "chunk");
    const unsigned value = 9;
    checked(lock, H5Pset_filter(dcpl.get(), kFilter, H5Z_FLAG_MANDATORY, 1, &value), "filter");
    const Hid space = owned(lock, H5Screate_simple(1, &n, nullptr), "space");
    Hid dataset = owned(
        lock, H5Dcreate2(file->id(), "T", H5T_STD_I32LE, space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT), "dataset");
    ArrayMeta meta = meta_of({{4}, {}, {4}});
    meta.codecs = {{"hdf5-32099", {}}};
    const auto sink = make_sink(file, std::move(dataset), meta);
    sink->write(ChunkId{0}, {as_bytes("mystery"), 0, false});
    file->finish();
  }
  const auto file = File::open(path);
  ArrayMeta meta = meta_of({{4}, {}, {4}});
  meta.codecs = {{"hdf5-32099", {}}};
  const Lock lock;
  const auto source = make_source(file, owned(lock, H5Dopen2(file->id(), "T", H5P_DEFAULT), "open"), meta);
  ReadBatch batch;
  const ChunkId id{0};
  source->read({&id, 1}, batch);
  CHECK(as_text(batch.chunks[0].bytes) == "mystery");
}

TEST_CASE("targets that exist or cannot be made", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  File::create(path, {})->finish();
  CHECK(error_of([&] { File::create(path, {}); }).code() == Code::exists);
  CHECK(error_of([&] { File::create(folder / "none/a.h5", {}); }).code() == Code::not_found);
  CreateOptions odd;
  odd.userblock.resize(700);
  CHECK(error_of([&] { File::create(folder / "b.h5", odd); }).code() == Code::unsupported);
  CHECK(!std::filesystem::exists(folder / "b.h5"));
}

// Files of this process may not grow beyond a size, which looks to a writer like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t n_bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const struct rlimit limit { n_bytes, old_.rlim_max };
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  struct rlimit old_ {};
  void (*old_handler_)(int) = nullptr;
};

TEST_CASE("a disk that fills up at any point is told, and the process survives", "[hdf5]") {
  const ScratchDirectory folder;
  const std::string path = folder / "a.h5";
  const H5F_libver_t low = GENERATE(H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
  const Recipe recipe{{200, 10}, {kUnlimited, 10}, {1, 10}};
  int n_failures = 0;
  for (rlim_t limit = 0; limit < 40'000; limit += 700) {
    std::filesystem::remove(path);
    try {
      const FileSizeLimit full_disk(limit);
      const auto file = File::create(path, options_for(low));
      write_chunks(*open_sink(file, recipe), [](Index) { return true; });
      file->finish();
    } catch (const Error& error) {
      ++n_failures;
      CHECK(error.code() == Code::io);
      CHECK_THAT(error.what(), Catch::Contains(path));
      continue;
    }
    CHECK(library_values(path) == all_values(recipe.shape));
  }
  CHECK(n_failures > 10);
  CHECK(n_failures < 55);
}

}  // namespace
}  // namespace chunkwise::hdf5
