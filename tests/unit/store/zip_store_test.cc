#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "../base/throws_code.h"
#include "scratch_directory.h"
#include "store/open_store.h"
#include "store/store.h"
#include "store/zip_format.h"
#include "store/zip_index.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

std::string text_at(const Store& store, std::string_view key) {
  const std::optional<Bytes> bytes = store.read(key, kAny);
  return bytes ? std::string(as_text(*bytes)) : "(absent)";
}

std::string names(const Store& store, std::string_view prefix) {
  std::string all;
  for (const Store::Entry& entry : store.list(prefix)) all += entry.name + (entry.is_prefix ? "/ " : " ");
  return all;
}

/// Where a number stands in a file that a test damages.
void set16(std::string& file, std::size_t at, unsigned value) {
  file[at] = static_cast<char>(value & 0xffU);
  file[at + 1] = static_cast<char>(value >> 8U);
}
void set32(std::string& file, std::size_t at, unsigned value) {
  set16(file, at, value & 0xffffU);
  set16(file, at + 2, value >> 16U);
}

/// Two objects: "a/x" holds "first", "b" holds "second".
std::string small_zip(const ScratchDirectory& scratch) {
  const std::string path = scratch / "small.zip";
  const auto store = create_zip_store(path);
  store->write("a/x", as_bytes("first"));
  store->write("b", as_bytes("second"));
  store->finish();
  return read_file(path);
}
constexpr std::size_t kSecond = 30 + 3 + 5;               // local header of "b"
constexpr std::size_t kDirectory = kSecond + 30 + 1 + 6;  // its first record
constexpr std::size_t kDirectory2 = kDirectory + 46 + 3;  // its second record
constexpr std::size_t kEnd = kDirectory2 + 46 + 1;        // end record

TEST_CASE("What is written to a zip file can be read, listed and sized") {
  const ScratchDirectory scratch;
  {
    const auto store = create_zip_store(scratch / "d.zip");
    store->write("zarr.json", as_bytes("{}"));
    store->write("a/c/0/1", as_bytes("first"));
    store->write("a/c/0/1", as_bytes("2nd"));
    store->write("a/zarr.json", as_bytes(""));
    store->write("a.b", as_bytes("beside"));
    store->write("\xc3\xa9", as_bytes("accent"));
    store->finish();
  }
  CHECK(is_zip_file(scratch / "d.zip"));
  const auto store = open_store(scratch / "d.zip");
  CHECK(text_at(*store, "a/c/0/1") == "2nd");
  CHECK(text_at(*store, "a/zarr.json").empty());
  CHECK(text_at(*store, "\xc3\xa9") == "accent");
  CHECK(text_at(*store, "a") == "(absent)");
  CHECK(text_at(*store, "a/c/0/1/2") == "(absent)");
  CHECK(store->size_bytes("a/c/0/1") == 3u);
  CHECK_FALSE(store->size_bytes("a/c"));
  CHECK(names(*store, "") == "a/ a.b zarr.json \xc3\xa9 ");
  CHECK(names(*store, "a") == "c/ zarr.json ");
  CHECK(names(*store, "a/c/0") == "1 ");
  CHECK(names(*store, "a/none").empty());
  REQUIRE_ERROR(store->read("zarr.json", 1), Code::corrupt, "more than");
  REQUIRE_ERROR(store->read("../x", kAny), Code::corrupt, "not a key");
  REQUIRE_ERROR(create_zip_store(scratch / "d.zip"), Code::exists, "exists");
}

TEST_CASE("A zip file without objects is one") {
  const ScratchDirectory scratch;
  create_zip_store(scratch / "e.zip")->finish();
  CHECK(is_zip_file(scratch / "e.zip"));
  CHECK(open_zip_store(scratch / "e.zip")->list("").empty());
}

TEST_CASE("Threads append to one zip file") {
  const ScratchDirectory scratch;
  const auto content = [](int thread, int i) {
    return std::string(static_cast<std::size_t>(1 + (thread * 37 + i * 11) % 5000), static_cast<char>('a' + thread));
  };
  {
    const auto store = create_zip_store(scratch / "t.zip");
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 200; ++i) store->write(fmt::format("{}/{}", thread, i), as_bytes(content(thread, i)));
      });
    }
    threads.clear();
    store->finish();
  }
  const auto store = open_zip_store(scratch / "t.zip");
  for (int thread = 0; thread < 4; ++thread) {
    CHECK(store->list(std::to_string(thread)).size() == 200);
    for (int i = 0; i < 200; ++i) REQUIRE(text_at(*store, fmt::format("{}/{}", thread, i)) == content(thread, i));
  }
}

TEST_CASE("Objects of a zip file may come in pieces, in any order") {
  const ScratchDirectory scratch;
  {
    const auto store = create_zip_store(scratch / "p.zip");
    const auto a = store->open_pieces("a", 0);
    a->write(3, as_bytes("def"));
    const auto b = store->open_pieces("b", 0);
    b->write(0, as_bytes("other"));
    a->write(0, as_bytes("abc"));
    store->write("c", as_bytes("between"));
    const auto again = store->open_pieces("a", std::nullopt);
    again->write(6, as_bytes("ghi"));
    again->close();
    b->close();
    store->finish();
  }
  const auto store = open_zip_store(scratch / "p.zip");
  CHECK(text_at(*store, "a") == "abcdefghi");
  CHECK(text_at(*store, "b") == "other");
  CHECK(text_at(*store, "c") == "between");
  CHECK(testing::n_entries(scratch.path()) == 1);
}

TEST_CASE("More entries than 16 bits count need zip64") {
  const ScratchDirectory scratch;
  constexpr int kEntries = 70'000;
  {
    const auto store = create_zip_store(scratch / "m.zip");
    for (int i = 0; i < kEntries; ++i) store->write(fmt::format("c/{}", i), as_bytes("x"));
    store->finish();
  }
  const auto file = open_file_object(scratch / "m.zip");
  const ZipIndex index(*file);
  CHECK(index.n_entries() == kEntries);
  CHECK(text_at(*open_zip_store(scratch / "m.zip"), "69999") == "x");
}

TEST_CASE("One folder around everything is the root") {
  const ScratchDirectory scratch;
  {
    const auto store = create_zip_store(scratch / "f.zip");
    store->write("x.zarr/zarr.json", as_bytes("{}"));
    store->write("x.zarr/a/c/0", as_bytes("0"));
    store->write("__MACOSX/x.zarr/._zarr.json", as_bytes("?"));
    store->finish();
  }
  const auto store = open_zip_store(scratch / "f.zip");
  CHECK(names(*store, "") == "a/ zarr.json ");
  CHECK(text_at(*store, "a/c/0") == "0");
}

TEST_CASE("Zip files that contradict themselves are refused") {
  const ScratchDirectory scratch;
  const std::string good = small_zip(scratch);
  REQUIRE(good.size() == kEnd + 22);
  const std::string path = scratch / "bad.zip";
  const auto open = [&](const std::function<void(std::string&)>& damage) {
    std::string bad = good;
    damage(bad);
    write_file(path, bad);
    return open_zip_store(path);
  };
  const auto refused = [&](const char* why, const std::function<void(std::string&)>& damage) {
    INFO(why);
    REQUIRE_ERROR(open(damage), Code::corrupt, why);
  };
  CHECK(text_at(*open([](std::string&) {}), "a/x") == "first");
  CHECK(text_at(*open([](std::string& f) { f = "in front" + f; }), "b") == "second");
  refused("no end record", [](std::string& f) { f.resize(f.size() - 1); });
  refused("no end record", [](std::string& f) { f.resize(10); });
  refused("said to have 3 entries", [](std::string& f) { set16(f, kEnd + 8, 3), set16(f, kEnd + 10, 3); });
  refused("said to have 1 entries", [](std::string& f) { set16(f, kEnd + 8, 1), set16(f, kEnd + 10, 1); });
  refused("more than its directory", [](std::string& f) { set16(f, kEnd + 8, 60000), set16(f, kEnd + 10, 60000); });
  refused("more than the", [](std::string& f) { set32(f, kEnd + 12, 0x7fffffff); });
  refused("but ends before", [](std::string& f) { set32(f, kEnd + 16, 0x7fffffff); });
  refused("damaged after 1 entries", [](std::string& f) { f[kDirectory2] = 'X'; });
  refused("ends within entry 1", [](std::string& f) { set16(f, kDirectory2 + 28, 2); });
  refused("outside of the file", [](std::string& f) { set32(f, kDirectory2 + 42, 0x7fffffff); });
  refused("outside of the file",
          [](std::string& f) { set32(f, kDirectory2 + 20, 0x10000), set32(f, kDirectory2 + 24, 0x10000); });
  refused("overlap", [](std::string& f) { set32(f, kDirectory2 + 42, 0); });
  refused("overlap", [](std::string& f) { set32(f, kDirectory + 20, 6), set32(f, kDirectory + 24, 6); });
  refused("cannot hold", [](std::string& f) { set32(f, kDirectory + 24, 4); });
  refused("cannot hold", [](std::string& f) { set16(f, kDirectory + 10, 8), set32(f, kDirectory + 24, 1U << 31U); });
  refused("a zip64 field ends early", [](std::string& f) {
    set32(f, kDirectory + 42, 0xffffffff);
    set16(f, kDirectory + 28, 1), set16(f, kDirectory + 30, 2);  // the name's end becomes a field
    set16(f, kDirectory + 28, 3), set16(f, kDirectory + 30, 0);
    f.insert(kDirectory2, std::string("\1\0\4\0abcd", 8));
    set16(f, kDirectory + 30, 8);
    set32(f, kEnd + 8 + 12, static_cast<unsigned>(kEnd + 8 - kDirectory));
  });
  for (const char* const name : {"../", "/xx", "..x", "a\\x", "a//",
                                 "\xff\xfe"
                                 "x"}) {
    INFO(name);
    if (std::string(name) == "..x") continue;
    refused("entry '", [&](std::string& f) { f.replace(kDirectory + 46, 3, name, 3); });
  }
  refused("a zero byte", [](std::string& f) { f[kDirectory + 47] = '\0'; });
  refused("folder of others too", [](std::string& f) { f[kDirectory2 + 46] = 'a'; });
  REQUIRE_ERROR(open([](std::string& f) { set16(f, kEnd + 4, 1); }), Code::unsupported, "several parts");
}

TEST_CASE("Objects of a zip file that are not what its directory says are refused when they are read") {
  const ScratchDirectory scratch;
  const std::string good = small_zip(scratch);
  const std::string path = scratch / "bad.zip";
  const auto read = [&](const std::function<void(std::string&)>& damage) {
    std::string bad = good;
    damage(bad);
    write_file(path, bad);
    return text_at(*open_zip_store(path), "b");
  };
  REQUIRE_ERROR(read([](std::string& f) { f[kSecond + 31] = 'S'; }), Code::corrupt, "checksum");
  REQUIRE_ERROR(read([](std::string& f) { f[kSecond + 30] = 'B'; }), Code::corrupt, "another header");
  REQUIRE_ERROR(read([](std::string& f) { f[kSecond] = 'X'; }), Code::corrupt, "another header");
  REQUIRE_ERROR(read([](std::string& f) { set16(f, kSecond + 28, 100); }), Code::corrupt, "runs into the directory");
  REQUIRE_ERROR(read([](std::string& f) { set16(f, kDirectory2 + 8, 1); }), Code::unsupported, "encrypted");
  REQUIRE_ERROR(read([](std::string& f) { set16(f, kDirectory2 + 10, 12); }), Code::unsupported, "method 12");
  REQUIRE_ERROR(read([](std::string& f) { set16(f, kDirectory2 + 10, 8), set16(f, kSecond + 8, 8); }), Code::corrupt,
                "deflate");
}

TEST_CASE("Which kind of store stands at a path") {
  const ScratchDirectory scratch;
  CHECK(has_zip_name("x.zip"));
  CHECK(has_zip_name("x.zarr.ZIP"));
  CHECK_FALSE(has_zip_name("x.zarr"));
  CHECK_FALSE(has_zip_name("zip"));
  write_file(scratch / "d/zarr.json", "{}");
  small_zip(scratch);
  CHECK(text_at(*open_store(scratch / "d"), "zarr.json") == "{}");
  CHECK(text_at(*open_store(scratch / "small.zip"), "b") == "second");
  CHECK(StoreProbe(scratch / "d").has("zarr.json"));
  CHECK_FALSE(StoreProbe(scratch / "d").has(".zgroup"));
  CHECK(StoreProbe(scratch / "small.zip").has("b"));
  CHECK_FALSE(StoreProbe(scratch / "small.zip").has("a"));
  CHECK_FALSE(StoreProbe(scratch / "none").has("a"));
}

}  // namespace
}  // namespace chunkwise
