#include "store/record_log.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "scratch_directory.h"

namespace chunkwise {
namespace {

using testing::ScratchDirectory;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<std::string> records_of(const RecordLog& log) {
  std::vector<std::string> records;
  log.for_each([&](ByteView record) { records.emplace_back(as_text(record)); });
  return records;
}

TEST_CASE("records are read back in order, and one process holds a log") {
  const ScratchDirectory folder;
  const std::string path = folder / "log";
  {
    RecordLog log = RecordLog::create(path);
    log.append(as_bytes("one"));
    log.append(as_bytes(""));
    log.append(as_bytes("three"));
    CHECK(records_of(log) == std::vector<std::string>{"one", "", "three"});
    CHECK_FALSE(RecordLog::open(path).has_value());
    CHECK_THROWS_AS(RecordLog::create(path), Error);
  }
  const auto log = RecordLog::open(path);
  REQUIRE(log.has_value());
  CHECK(records_of(*log) == std::vector<std::string>{"one", "", "three"});
}

TEST_CASE("a log cut anywhere keeps its whole records and can be appended to") {
  const ScratchDirectory folder;
  const std::string path = folder / "log";
  std::vector<std::size_t> ends;
  {
    RecordLog log = RecordLog::create(path);
    ends.push_back(std::filesystem::file_size(path));
    for (const char* text : {"one", "two", "three"}) {
      log.append(as_bytes(text));
      ends.push_back(std::filesystem::file_size(path));
    }
  }
  const std::string whole = content_of(path);
  const std::vector<std::string> all = {"one", "two", "three"};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    put(path, whole.substr(0, size));
    std::size_t n_whole = 0;
    while (n_whole < 3 && ends[n_whole + 1] <= size) ++n_whole;
    std::vector<std::string> expected(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n_whole));
    {
      auto log = RecordLog::open(path);
      CHECK(records_of(*log) == expected);
      log->append(as_bytes("four"));
      expected.emplace_back("four");
      CHECK(records_of(*log) == expected);
    }
    CHECK(records_of(*RecordLog::open(path)) == expected);
  }
}

TEST_CASE("a record whose bytes changed ends the log") {
  const ScratchDirectory folder;
  const std::string path = folder / "log";
  {
    RecordLog log = RecordLog::create(path);
    for (const char* text : {"one", "two", "three"}) log.append(as_bytes(text));
  }
  std::string content = content_of(path);
  content[content.find("two")] ^= 1;
  put(path, content);
  CHECK(records_of(*RecordLog::open(path)) == std::vector<std::string>{"one"});
}

}  // namespace
}  // namespace chunkwise
