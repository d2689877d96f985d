// The memory budget: a fixed number of bytes, handed out as leases in first-come order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <stop_token>
#include <utility>

namespace chunkwise {

/// Thread-safe. A task takes one lease, first, and never grows it, so waiting cannot deadlock.
class MemoryBudget {
 public:
  /// Its bytes come back to the budget when the lease dies, which must be before the budget does. Movable.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { reset(); }
    std::uint64_t bytes() const { return bytes_; }
    explicit operator bool() const { return owner_ != nullptr; }
    void reset();

   private:
    friend class MemoryBudget;
    Lease(MemoryBudget* owner, std::uint64_t bytes) : owner_(owner), bytes_(bytes) {}
    MemoryBudget* owner_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  explicit MemoryBudget(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// A place in the line, for one take(). Whoever stands behind it waits until it has been used.
  enum class Ticket : std::uint64_t {};
  Ticket queue();
  /// Blocks in the order of tickets until `bytes` are free; returns an empty lease if `stop` is requested first.
  /// Throws Error{internal} if `bytes` exceeds the capacity: the planner must not let that happen.
  Lease take(Ticket ticket, std::uint64_t bytes, std::stop_token stop);
  /// The same from the end of the line.
  Lease take(std::uint64_t bytes, std::stop_token stop) { return take(queue(), bytes, std::move(stop)); }

  std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  /// The most bytes that were out at once.
  std::uint64_t peak_bytes() const;

 private:
  void give_back(std::uint64_t bytes);

  const std::uint64_t capacity_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t next_ticket_ = 0;
  std::deque<Ticket> waiting_;  // first come first
};

}  // namespace chunkwise
