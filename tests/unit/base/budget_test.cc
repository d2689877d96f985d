#include "base/budget.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "throws_code.h"

namespace chunkwise {
namespace {

using namespace std::chrono_literals;

// Long enough for a thread that could go on to have done so.
constexpr auto kMoment = 50ms;

TEST_CASE("Leases come and go") {
  MemoryBudget budget(100);
  CHECK(budget.capacity_bytes() == 100);
  {
    MemoryBudget::Lease a = budget.take(60, {});
    CHECK(a);
    CHECK(a.bytes() == 60);
    MemoryBudget::Lease b = budget.take(40, {});
    a.reset();
    CHECK_FALSE(a);
    CHECK(a.bytes() == 0);
    a = budget.take(50, {});
    MemoryBudget::Lease c(std::move(a));
    CHECK_FALSE(a);  // NOLINT: moved from on purpose
    CHECK(c.bytes() == 50);
    b = std::move(c);  // gives 40 back
    CHECK(budget.take(50, {}));
  }
  CHECK(budget.peak_bytes() == 100);
  CHECK(budget.take(100, {}).bytes() == 100);
  CHECK(budget.take(0, {}));
  REQUIRE_ERROR(budget.take(101, {}), Code::internal, "101 B");
}

TEST_CASE("A lease waits until there is room") {
  MemoryBudget budget(100);
  MemoryBudget::Lease first = budget.take(80, {});
  std::atomic<bool> served = false;
  std::jthread waiter([&] {
    const MemoryBudget::Lease lease = budget.take(30, {});
    served = true;
  });
  std::this_thread::sleep_for(kMoment);
  CHECK_FALSE(served);
  first.reset();
  waiter.join();
  CHECK(served);
  CHECK(budget.peak_bytes() == 80);
}

TEST_CASE("A small lease does not overtake a large one that waits") {
  MemoryBudget budget(100);
  MemoryBudget::Lease first = budget.take(50, {});
  std::atomic<int> n_served = 0;
  std::atomic<int> large_place = 0;
  std::atomic<int> small_place = 0;
  std::jthread large([&] {
    const MemoryBudget::Lease lease = budget.take(90, {});
    large_place = ++n_served;
  });
  std::this_thread::sleep_for(kMoment);
  std::jthread small([&] {
    const MemoryBudget::Lease lease = budget.take(20, {});  // would fit at once
    small_place = ++n_served;
  });
  std::this_thread::sleep_for(kMoment);
  CHECK(n_served == 0);
  first.reset();
  large.join();
  small.join();
  CHECK(large_place == 1);
  CHECK(small_place == 2);
}

TEST_CASE("A stop wakes a waiter wherever it stands in the line") {
  MemoryBudget budget(100);
  MemoryBudget::Lease first = budget.take(50, {});
  std::stop_source stop;
  std::atomic<bool> stopped = false;
  std::jthread large([&] { stopped = !budget.take(90, stop.get_token()); });
  std::this_thread::sleep_for(kMoment);
  std::atomic<bool> served = false;
  std::jthread small([&] { served = bool(budget.take(20, {})); });
  std::this_thread::sleep_for(kMoment);
  CHECK_FALSE(served);
  stop.request_stop();
  large.join();
  small.join();  // no longer behind the large one
  CHECK(stopped);
  CHECK(served);
  CHECK_FALSE(budget.take(1, stop.get_token()));
}

TEST_CASE("The budget is never passed by many threads") {
  constexpr std::uint64_t kCapacityBytes = 1000;
  MemoryBudget budget(kCapacityBytes);
  std::atomic<std::uint64_t> out = 0;
  std::atomic<bool> passed = false;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 500; ++i) {
          const MemoryBudget::Lease lease = budget.take((t * 331 + i * 97) % (kCapacityBytes + 1), {});
          if ((out += lease.bytes()) > kCapacityBytes) passed = true;
          out -= lease.bytes();
        }
      });
    }
  }
  CHECK_FALSE(passed);
  CHECK(budget.peak_bytes() <= kCapacityBytes);
  CHECK(budget.take(kCapacityBytes, {}));  // all came back
}

TEST_CASE("After a stop a ticket may be asked with twice") {
  MemoryBudget budget(10);
  const MemoryBudget::Lease all = budget.take(10, {});
  const MemoryBudget::Ticket ticket = budget.queue();
  const MemoryBudget::Ticket other = budget.queue();
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(budget.take(ticket, 5, stop.get_token()));
  CHECK_FALSE(budget.take(ticket, 5, stop.get_token()));
  CHECK_FALSE(budget.take(other, 5, stop.get_token()));
  CHECK_FALSE(budget.take(other, 5, stop.get_token()));
}

}  // namespace
}  // namespace chunkwise
