#include "base/child_process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <new>
#include <stdexcept>

namespace chunkwise {
namespace {

using End = ChildResult::End;

TEST_CASE("A child's reply arrives whole, whatever it holds") {
  std::string text(300'000, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  const ChildResult result = run_in_child({}, [&] { return text; });
  REQUIRE(result.end == End::replied);
  CHECK(result.reply == text);
  CHECK(run_in_child({}, [] { return std::string(); }).end == End::replied);
}

TEST_CASE("What a child changes stays in the child") {
  int value = 1;
  run_in_child({}, [&] {
    value = 2;
    return std::string();
  });
  CHECK(value == 1);
}

TEST_CASE("A child's crash is an answer") {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) {
    const ChildResult result = run_in_child({}, [number] {
      raise(number);
      return std::string("survived");
    });
    CHECK(result.end == End::crashed);
    CHECK(result.signal == number);
    CHECK(result.reply.empty());
  }
  CHECK(run_in_child({}, []() -> std::string { _exit(0); }).end == End::crashed);
  CHECK(run_in_child({}, []() -> std::string { throw std::runtime_error("?"); }).end == End::crashed);
}

TEST_CASE("A child that computes for ever is ended") {
  const ChildResult result = run_in_child({.cpu_s = 1}, []() -> std::string {
    for (std::atomic<unsigned> n = 0;;) ++n;
  });
  CHECK(result.end == End::out_of_time);
}

TEST_CASE("A child gets the memory it may have and no more") {
  const auto can_map = [](std::size_t bytes) {
    return run_in_child({.extra_memory_bytes = std::uint64_t{64} << 20},
                        [bytes] {
                          void* const at =
                              mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                          return std::string(at == MAP_FAILED ? "no" : "yes");
                        })
        .reply;
  };
  CHECK(can_map(std::size_t{32} << 20) == "yes");
  CHECK(can_map(std::size_t{128} << 20) == "no");
  CHECK(run_in_child({}, []() -> std::string { throw std::bad_alloc(); }).end == End::out_of_memory);
}

TEST_CASE("A child leaves no core file and prints nothing") {
  const ChildResult result = run_in_child({}, [] {
    rlimit core{};
    getrlimit(RLIMIT_CORE, &core);
    const bool silent = write(STDERR_FILENO, "?", 1) == 1 && isatty(STDERR_FILENO) == 0;
    return std::string(core.rlim_cur == 0 && silent ? "yes" : "no");
  });
  CHECK(result.reply == "yes");
}

}  // namespace
}  // namespace chunkwise
