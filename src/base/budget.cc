#include "base/budget.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {

MemoryBudget::Lease::Lease(Lease&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryBudget::Lease& MemoryBudget::Lease::operator=(Lease&& other) noexcept {
  if (this == &other) return *this;
  reset();
  owner_ = std::exchange(other.owner_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void MemoryBudget::Lease::reset() {
  if (owner_ != nullptr) owner_->give_back(bytes_);
  owner_ = nullptr;
  bytes_ = 0;
}

MemoryBudget::Ticket MemoryBudget::queue() {
  const std::lock_guard lock(mutex_);
  const auto ticket = Ticket{next_ticket_++};
  waiting_.push_back(ticket);
  return ticket;
}

MemoryBudget::Lease MemoryBudget::take(Ticket ticket, std::uint64_t bytes, std::stop_token stop) {
  if (bytes > capacity_bytes_) {
    throw Error(Code::internal, fmt::format("a lease of {} was asked of a memory budget of {}", format_bytes(bytes),
                                            format_bytes(capacity_bytes_)));
  }
  std::unique_lock lock(mutex_);
  const bool served = !stop.stop_requested() && changed_.wait(lock, stop, [&] {
    return waiting_.front() == ticket && bytes <= capacity_bytes_ - used_bytes_;
  });
  // Whoever gives up may stand anywhere in the line; the others must not wait for it.
  // After a stop several threads may ask with one ticket, and the first has taken it out.
  const auto place = std::find(waiting_.begin(), waiting_.end(), ticket);
  if (place != waiting_.end()) waiting_.erase(place);
  if (served) {
    used_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  }
  lock.unlock();
  changed_.notify_all();
  return served ? Lease(this, bytes) : Lease();
}

std::uint64_t MemoryBudget::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

void MemoryBudget::give_back(std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    used_bytes_ -= bytes;
  }
  changed_.notify_all();
}

}  // namespace chunkwise
