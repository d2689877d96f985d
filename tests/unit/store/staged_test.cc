#include "store/staged.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../base/throws_code.h"
#include "scratch_directory.h"

namespace chunkwise {
namespace {

namespace fs = std::filesystem;
using testing::n_entries;
using testing::read_file;
using testing::ScratchDirectory;
using testing::write_file;

TEST_CASE("A file appears only when it is published") {
  const ScratchDirectory scratch;
  StagedTarget target(scratch / "out.nc", TargetKind::file, false);
  CHECK(n_entries(scratch.path()) == 0);
  CHECK(target.path().find(scratch / ".out.nc.rechunk-") == 0);
  write_file(target.path(), "new");
  CHECK_FALSE(fs::exists(scratch / "out.nc"));
  target.publish();
  CHECK(read_file(scratch / "out.nc") == "new");
  CHECK(n_entries(scratch.path()) == 1);
}

TEST_CASE("A directory appears only when it is published") {
  const ScratchDirectory scratch;
  StagedTarget target(scratch / "out.zarr//", TargetKind::directory, false);
  CHECK(fs::is_empty(target.path()));
  write_file(target.path() + "/zarr.json", "{}");
  CHECK_FALSE(fs::exists(scratch / "out.zarr"));
  target.publish();
  CHECK(read_file(scratch / "out.zarr/zarr.json") == "{}");
  CHECK(n_entries(scratch.path()) == 1);
}

TEST_CASE("What is not published leaves nothing behind") {
  const ScratchDirectory scratch;
  {
    StagedTarget file(scratch / "out.nc", TargetKind::file, false);
    write_file(file.path(), "half");
    StagedTarget directory(scratch / "out.zarr", TargetKind::directory, false);
    write_file(directory.path() + "/a/b/c", "half");
    StagedTarget untouched(scratch / "none.nc", TargetKind::file, false);
    CHECK(n_entries(scratch.path()) == 2);
  }
  CHECK(n_entries(scratch.path()) == 0);
}

TEST_CASE("keep leaves the temporary where it is") {
  const ScratchDirectory scratch;
  std::string kept;
  {
    StagedTarget target(scratch / "out.nc", TargetKind::file, false);
    write_file(target.path(), "suspect");
    kept = target.keep();
  }
  CHECK(read_file(kept) == "suspect");
  CHECK(n_entries(scratch.path()) == 1);
}

TEST_CASE("An existing target is refused without overwrite") {
  const ScratchDirectory scratch;
  write_file(scratch / "out.nc", "old");
  write_file(scratch / "out.zarr/zarr.json", "old");
  fs::create_symlink("nowhere", scratch / "link.nc");
  REQUIRE_ERROR(StagedTarget(scratch / "out.nc", TargetKind::file, false), Code::exists, "--overwrite");
  REQUIRE_ERROR(StagedTarget(scratch / "out.zarr/", TargetKind::directory, false), Code::exists, "out.zarr' exists");
  REQUIRE_ERROR(StagedTarget(scratch / "link.nc", TargetKind::file, false), Code::exists);
  CHECK(n_entries(scratch.path()) == 3);
}

TEST_CASE("With overwrite an old file stands until the new one takes its place") {
  const ScratchDirectory scratch;
  write_file(scratch / "out.nc", "old");
  {
    StagedTarget target(scratch / "out.nc", TargetKind::file, true);
    write_file(target.path(), "half");
  }
  CHECK(read_file(scratch / "out.nc") == "old");
  StagedTarget target(scratch / "out.nc", TargetKind::file, true);
  write_file(target.path(), "new");
  CHECK(read_file(scratch / "out.nc") == "old");
  target.publish();
  CHECK(read_file(scratch / "out.nc") == "new");
  CHECK(n_entries(scratch.path()) == 1);
}

TEST_CASE("With overwrite an old Zarr directory is exchanged and removed") {
  for (const char* const marker : {"zarr.json", ".zgroup", ".zarray"}) {
    const ScratchDirectory scratch;
    write_file(scratch / "out.zarr/" + marker, "old");
    write_file(scratch / "out.zarr/a/c/0/0", "old");
    StagedTarget target(scratch / "out.zarr", TargetKind::directory, true);
    write_file(target.path() + "/zarr.json", "new");
    CHECK(fs::exists(scratch / "out.zarr/a"));
    target.publish();
    CHECK(read_file(scratch / "out.zarr/zarr.json") == "new");
    CHECK_FALSE(fs::exists(scratch / "out.zarr/a"));
    CHECK(n_entries(scratch.path()) == 1);
  }
}

TEST_CASE("With overwrite a target that does not exist is simply created") {
  const ScratchDirectory scratch;
  StagedTarget file(scratch / "out.nc", TargetKind::file, true);
  write_file(file.path(), "new");
  file.publish();
  StagedTarget directory(scratch / "out.zarr", TargetKind::directory, true);
  directory.publish();
  CHECK(n_entries(scratch.path()) == 2);
}

TEST_CASE("Foreign things are never replaced") {
  const ScratchDirectory scratch;
  write_file(scratch / "photos/1.jpg", "precious");
  write_file(scratch / "notes.txt", "precious");
  fs::create_directory(scratch / "empty");
  fs::create_directories(scratch / "odd/zarr.json");  // a directory of that name
  fs::create_symlink("notes.txt", scratch / "link");
  write_file(scratch / "d.zarr/.zgroup", "precious");
  fs::create_directory_symlink("d.zarr", scratch / "link.zarr");
  for (const char* const name : {"photos", "notes.txt", "empty", "odd", "link.zarr"}) {
    INFO(name);
    REQUIRE_ERROR(StagedTarget(scratch / name, TargetKind::directory, true), Code::exists, name);
  }
  for (const char* const name : {"photos", "d.zarr", "empty", "link"}) {
    INFO(name);
    REQUIRE_ERROR(StagedTarget(scratch / name, TargetKind::file, true), Code::exists, name);
  }
  CHECK(n_entries(scratch.path()) == 7);
}

TEST_CASE("A target that appears meanwhile is not lost") {
  const ScratchDirectory scratch;
  StagedTarget file(scratch / "out.nc", TargetKind::file, false);
  write_file(file.path(), "ours");
  write_file(scratch / "out.nc", "theirs");
  REQUIRE_ERROR(file.publish(), Code::exists, "appeared");
  CHECK(read_file(scratch / "out.nc") == "theirs");
  CHECK(read_file(file.path()) == "ours");  // still there, to be kept or dropped

  StagedTarget directory(scratch / "out.zarr", TargetKind::directory, false);
  fs::create_directory(scratch / "out.zarr");  // rename(2) alone would replace it
  REQUIRE_ERROR(directory.publish(), Code::exists, "appeared");

  StagedTarget foreign(scratch / "new.zarr", TargetKind::directory, true);
  write_file(scratch / "new.zarr/photo.jpg", "theirs");
  REQUIRE_ERROR(foreign.publish(), Code::exists, "not a Zarr directory");
  CHECK(read_file(scratch / "new.zarr/photo.jpg") == "theirs");

  StagedTarget over(scratch / "over.nc", TargetKind::file, true);
  write_file(over.path(), "ours");
  write_file(scratch / "over.nc/photo.jpg", "theirs");
  REQUIRE_ERROR(over.publish(), Code::exists, "not a file");
}

TEST_CASE("Links inside a removed directory are not followed") {
  const ScratchDirectory scratch;
  write_file(scratch / "outside/file", "precious");
  write_file(scratch / "out.zarr/zarr.json", "old");
  fs::create_directory_symlink("../outside", scratch / "out.zarr/link");
  {
    StagedTarget target(scratch / "out.zarr", TargetKind::directory, true);
    write_file(target.path() + "/zarr.json", "new");
    fs::create_directory_symlink("../outside", target.path() + "/link");
    target.publish();
    StagedTarget dropped(scratch / "other.zarr", TargetKind::directory, true);
    fs::create_directory_symlink("../outside", dropped.path() + "/link");
  }
  CHECK(read_file(scratch / "outside/file") == "precious");
  CHECK(n_entries(scratch.path()) == 2);
}

TEST_CASE("Names and folders that cannot be") {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "x");
  REQUIRE_ERROR(StagedTarget(scratch / "no/out.nc", TargetKind::file, false), Code::not_found,
                "create the folder first");
  REQUIRE_ERROR(StagedTarget(scratch / "file/out.nc", TargetKind::file, false), Code::not_found);
  REQUIRE_ERROR(StagedTarget(scratch / "file/out.zarr", TargetKind::directory, true), Code::not_found);
  for (const char* const name : {"", "/", "///", ".", "..", "x/.."}) {
    INFO(name);
    REQUIRE_ERROR(StagedTarget(name, TargetKind::directory, false), Code::usage, "not a name");
  }
  const std::string longest(255, 'n');
  StagedTarget target(scratch / longest, TargetKind::directory, false);
  target.publish();
  CHECK(fs::is_directory(scratch / longest));
  REQUIRE_ERROR(StagedTarget(scratch / std::string(256, 'n'), TargetKind::directory, false), Code::io, "too long");
}

TEST_CASE("A target in the current folder") {
  const ScratchDirectory scratch;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  {
    StagedTarget target("out.zarr/", TargetKind::directory, false);
    CHECK(target.path().find(".out.zarr.rechunk-") == 0);
    target.publish();
  }
  fs::current_path(before);
  CHECK(fs::is_directory(scratch / "out.zarr"));
}

TEST_CASE("A folder that is not writable is told at once") {
  const ScratchDirectory scratch;
  fs::create_directory(scratch / "d");
  fs::permissions(scratch.path(), fs::perms::all);
  fs::permissions(scratch / "d",
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::seteuid(65534) == 0);
  CHECK_THROWS_MATCHES(StagedTarget(scratch / "d/out.nc", TargetKind::file, false), Error,
                       testing::HasCode(Code::io, "Permission denied"));
  CHECK_THROWS_MATCHES(StagedTarget(scratch / "d/out.zarr", TargetKind::directory, false), Error,
                       testing::HasCode(Code::io, "check the permissions"));
  if (is_root) REQUIRE(::seteuid(0) == 0);
  fs::permissions(scratch / "d", fs::perms::owner_all);
}

TEST_CASE("A target nobody wrote cannot be published") {
  const ScratchDirectory scratch;
  StagedTarget target(scratch / "out.nc", TargetKind::file, false);
  REQUIRE_ERROR(target.publish(), Code::io, "cannot open");
  CHECK(n_entries(scratch.path()) == 0);
}

}  // namespace
}  // namespace chunkwise
