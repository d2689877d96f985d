#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <csignal>
#include <limits>
#include <thread>

#include "../base/throws_code.h"
#include "scratch_directory.h"
#include "store/store.h"

namespace chunkwise {
namespace {

namespace fs = std::filesystem;
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

TEST_CASE("What is written can be read, listed and sized") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "d.zarr");
  CHECK(store->list("").empty());
  CHECK_FALSE(store->read("zarr.json", kAny));
  CHECK_NOTHROW(store->sync());

  store->write("zarr.json", as_bytes("{}"));
  store->write("a/c/0/1", as_bytes("first"));
  store->write("a/c/0/1", as_bytes("2nd"));
  store->write("a/zarr.json", as_bytes(""));
  CHECK_NOTHROW(store->sync());
  CHECK(text_at(*store, "a/c/0/1") == "2nd");
  CHECK(text_at(*store, "a/zarr.json").empty());
  CHECK(store->size_bytes("a/c/0/1") == 3u);
  CHECK(names(*store, "") == "a/ zarr.json ");
  CHECK(names(*store, "a") == "c/ zarr.json ");
  CHECK(names(*store, "a/c/0") == "1 ");
  CHECK(read_file(scratch / "d.zarr/a/c/0/1") == "2nd");
}

TEST_CASE("Absence is a value") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path() + "//");
  store->write("a/b", as_bytes("x"));
  for (const char* const key : {"nothing", "a", "a/nothing", "no/such/prefix", "a/b/below_an_object"}) {
    INFO(key);
    CHECK_FALSE(store->read(key, kAny));
    CHECK(store->open(key) == nullptr);
    CHECK_FALSE(store->size_bytes(key));
  }
  CHECK(store->list("nothing").empty());
  CHECK(store->list("a/b").empty());
}

TEST_CASE("Keys that are none are corrupt input") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path());
  for (const std::string_view key : {std::string_view("/a"), std::string_view("a/"), std::string_view("a//b"),
                                     std::string_view(".."), std::string_view("a/../b"), std::string_view("./a"),
                                     std::string_view("a/."), std::string_view("a\0b", 3), std::string_view("/")}) {
    REQUIRE_ERROR(store->read(key, kAny), Code::corrupt, "not a key");
    REQUIRE_ERROR(store->open(key), Code::corrupt, "not a key");
    REQUIRE_ERROR(store->size_bytes(key), Code::corrupt, "not a key");
    REQUIRE_ERROR(store->write(key, {}), Code::corrupt, "not a key");
    REQUIRE_ERROR(store->list(key), Code::corrupt, "not a key");
  }
  REQUIRE_ERROR(store->read("", kAny), Code::corrupt, "not a key");
  REQUIRE_ERROR(store->read(std::string(300, 'a'), kAny), Code::io, "too long");
  CHECK_NOTHROW(store->write("...", as_bytes("a name like any other")));
  REQUIRE_ERROR(open_directory_store(""), Code::usage);
}

TEST_CASE("Reads are positional and checked") {
  const ScratchDirectory scratch;
  write_file(scratch / "f", "0123456789");
  for (const auto& object : {open_file_object(scratch / "f"), open_directory_store(scratch.path())->open("f")}) {
    REQUIRE(object->size_bytes() == 10);
    Bytes out(4);
    object->read(3, out.span());
    CHECK(as_text(out) == "3456");
    object->read(6, out.span());
    CHECK(as_text(out) == "6789");
    CHECK_NOTHROW(object->read(10, {}));
    REQUIRE_ERROR(object->read(7, out.span()), Code::corrupt, "has 10 bytes");
    REQUIRE_ERROR(object->read(kAny, out.span()), Code::corrupt, "has 10 bytes");
    REQUIRE_ERROR(object->read(kAny - 2, out.span()), Code::corrupt, "has 10 bytes");
  }
}

TEST_CASE("A file cut while it is open is corrupt") {
  const ScratchDirectory scratch;
  write_file(scratch / "f", "0123456789");
  const auto object = open_file_object(scratch / "f");
  fs::resize_file(scratch / "f", 5);
  Bytes out(10);
  REQUIRE_ERROR(object->read(0, out.span()), Code::corrupt, "ends at byte 5");
}

TEST_CASE("An object larger than believed is corrupt") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path());
  store->write("a", as_bytes("12345"));
  CHECK(store->read("a", 5));
  REQUIRE_ERROR(store->read("a", 4), Code::corrupt, "more than the 4 B");
}

TEST_CASE("Files that cannot be opened say why") {
  const ScratchDirectory scratch;
  REQUIRE_ERROR(open_file_object(scratch / "none"), Code::not_found, "there is no file");
  write_file(scratch / "f", "x");
  REQUIRE_ERROR(open_file_object(scratch / "f/below"), Code::not_found, "there is no file");
  REQUIRE_ERROR(open_file_object(scratch.path()), Code::not_found, "a directory");
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0666) == 0);
  REQUIRE_ERROR(open_file_object(scratch / "pipe"), Code::not_found, "pipe");
  fs::create_symlink("loop", scratch / "loop");
  REQUIRE_ERROR(open_file_object(scratch / "loop"), Code::io, "cannot open");
}

TEST_CASE("Objects and prefixes do not replace each other") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path());
  store->write("a/b", as_bytes("x"));
  REQUIRE_ERROR(store->write("a", as_bytes("y")), Code::io, "directory");
  REQUIRE_ERROR(store->write("a/b/c", as_bytes("y")), Code::io, "Not a directory");
  REQUIRE_ERROR(store->write("a/b/c/d", as_bytes("y")), Code::io, "Not a directory");
  CHECK(text_at(*store, "a/b") == "x");
}

TEST_CASE("The root is made by the first write, but not what is above it") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "new");
  CHECK_FALSE(fs::exists(scratch / "new"));
  store->write("x/y/z", as_bytes("1"));
  CHECK(fs::is_regular_file(scratch / "new/x/y/z"));
  REQUIRE_ERROR(open_directory_store(scratch / "no/such")->write("a", {}), Code::io, "No such file");
  write_file(scratch / "file", "");
  REQUIRE_ERROR(open_directory_store(scratch / "file")->write("a", {}), Code::io, "Not a directory");
  CHECK(open_directory_store(scratch / "file")->list("").empty());
}

TEST_CASE("A store follows its directory when that is renamed") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "before");
  store->write("a", as_bytes("1"));
  fs::rename(scratch / "before", scratch / "after");
  CHECK(text_at(*store, "a") == "1");
}

TEST_CASE("Links are followed within the root and nowhere else") {
  const ScratchDirectory scratch;
  write_file(scratch / "outside/secret", "secret");
  const auto store = open_directory_store(scratch / "root");
  store->write("a/b", as_bytes("inside"));
  fs::create_directory_symlink("a", scratch / "root/relative");
  fs::create_directory_symlink(fs::canonical(scratch / "root") / "a", scratch / "root/absolute");
  CHECK(text_at(*store, "relative/b") == "inside");
  CHECK(text_at(*store, "absolute/b") == "inside");
  CHECK(store->size_bytes("absolute/b") == 6u);
  store->write("relative/new", as_bytes("1"));
  store->write("absolute/deep/er", as_bytes("2"));
  CHECK(names(*store, "a") == "b deep/ new ");
  CHECK(names(*store, "absolute") == "b deep/ new ");
  fs::create_symlink("nowhere", scratch / "root/dangling");
  REQUIRE_ERROR(store->read("dangling", kAny), Code::corrupt, "leads nowhere");
  CHECK(names(*store, "") == "a/ absolute/ relative/ ");

  fs::create_symlink("../outside/secret", scratch / "root/a/file_out");
  fs::create_directory_symlink("../../outside", scratch / "root/a/out");
  fs::create_directory_symlink(scratch / "outside", scratch / "root/a/absolute_out");
  fs::create_symlink("../../outside/secret", scratch / "root/a/file_out2");
  for (const char* const key : {"a/out/secret", "a/absolute_out/secret", "a/file_out2"}) {
    INFO(key);
    REQUIRE_ERROR(store->read(key, kAny), Code::unsupported, "leads out of the dataset");
    REQUIRE_ERROR(store->size_bytes(key), Code::unsupported, "leads out of the dataset");
    REQUIRE_THROWS_AS(store->write(key, as_bytes("overwritten")), Error);
  }
  REQUIRE_ERROR(store->write("a/out/new/file", {}), Code::unsupported, "leads out of the dataset");
  REQUIRE_ERROR(store->list("a/out"), Code::unsupported, "leads out of the dataset");
  REQUIRE_ERROR(store->list("a"), Code::unsupported, "leads out of the dataset");
  CHECK(read_file(scratch / "outside/secret") == "secret");
  CHECK(testing::n_entries(scratch / "outside") == 1);
}

TEST_CASE("A root that is a link is a root like any other") {
  const ScratchDirectory scratch;
  write_file(scratch / "real/a", "1");
  fs::create_directory_symlink("real", scratch / "link");
  CHECK(text_at(*open_directory_store(scratch / "link"), "a") == "1");
}

TEST_CASE("Pipes are not objects and do not block") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path());
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0666) == 0);
  CHECK(store->list("").empty());
  REQUIRE_ERROR(store->size_bytes("pipe"), Code::io, "not a regular file");
  REQUIRE_ERROR(store->open("pipe"), Code::io, "not a regular file");
  REQUIRE_ERROR(store->write("pipe", as_bytes("x")), Code::io);
}

TEST_CASE("A full disk is told with the path and a hint") {
  // A limit on file sizes stands for a full disk: both make write(2) stop half way and then fail.
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch.path());
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  struct rlimit limited = before;
  limited.rlim_cur = 1000;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
  std::string message;
  std::string hint;
  try {
    store->write("c/0", Bytes(2000));
  } catch (const Error& error) {
    message = error.what();
    hint = error.hint();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  CHECK(message == "cannot write 1000 bytes at byte 1000 of '" + (scratch / "c/0") + "': File too large");
  CHECK(hint.find("ulimit -f") != std::string::npos);

  if (::access("/dev/full", W_OK) == 0) {
    fs::create_symlink("/dev/full", scratch / "full");
    REQUIRE_THROWS_AS(store->write("full", as_bytes("x")), Error);
    REQUIRE_ERROR(open_directory_store("/dev")->write("full", as_bytes("x")), Code::io, "No space left");
  }
}

TEST_CASE("Permissions are told with the path") {
  const ScratchDirectory scratch;
  write_file(scratch / "d/f", "x");
  fs::permissions(scratch / "d/f", fs::perms::none);
  fs::permissions(scratch.path(), fs::perms::all);
  fs::permissions(scratch / "d",
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(65534) == 0);
  const auto store = open_directory_store(scratch / "d");
  CHECK_THROWS_MATCHES(store->read("f", kAny), Error, testing::HasCode(Code::io, "Permission denied"));
  CHECK_THROWS_MATCHES(store->write("new", {}), Error, testing::HasCode(Code::io, "check the permissions"));
  CHECK_THROWS_MATCHES(store->write("new/er", {}), Error, testing::HasCode(Code::io, "Permission denied"));
  CHECK_THROWS_MATCHES(open_file_object(scratch / "d/f"), Error, testing::HasCode(Code::io, scratch / "d/f"));
  if (is_root) REQUIRE(::seteuid(0) == 0);
  fs::permissions(scratch / "d", fs::perms::owner_all);
}

TEST_CASE("Many threads write below the same new prefixes") {
  const ScratchDirectory scratch;
  const auto store = open_directory_store(scratch / "d");
  std::atomic<int> n_failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (int i = 0; i < 50; ++i) {
            const std::string key = "c/" + std::to_string(i) + "/" + std::to_string(i) + "/" + std::to_string(t);
            store->write(key, as_bytes(key));
          }
        } catch (const Error&) {
          ++n_failed;
        }
      });
    }
  }
  CHECK(n_failed == 0);
  for (int i = 0; i < 50; ++i) {
    for (int t = 0; t < 8; ++t) {
      const std::string key = "c/" + std::to_string(i) + "/" + std::to_string(i) + "/" + std::to_string(t);
      REQUIRE(text_at(*store, key) == key);
    }
  }
}

TEST_CASE("No descriptor is left open") {
  const ScratchDirectory scratch;
  const auto count = [] { return testing::n_entries("/proc/self/fd"); };
  const std::size_t before = count();
  {
    const auto store = open_directory_store(scratch / "d");
    for (int i = 0; i < 100; ++i) {
      store->write("a/" + std::to_string(i), as_bytes("x"));
      store->read("a/" + std::to_string(i), kAny);
      store->size_bytes("a");
      store->list("a");
      store->list("none");
      CHECK_THROWS(store->write("a", {}));
    }
    CHECK(count() <= before + 1);
  }
  CHECK(count() == before);
}

}  // namespace
}  // namespace chunkwise
