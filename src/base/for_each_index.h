// A loop whose steps run on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace chunkwise {

/// Calls `step(i, thread)` once for every i < n, each on one of up to `n_threads` threads numbered from 0. Returns when
/// all are done; after an exception no further steps begin, and it is thrown again here. For few, long steps: threads
/// are made for the occasion.
template <typename Step>
void for_each_index(int n_threads, std::size_t n, const Step& step) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](std::size_t thread) {
    try {
      for (std::size_t i = next++; i < n; i = next++) step(i, thread);
    } catch (...) {
      next = n;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    const std::size_t n_used = std::min<std::size_t>(static_cast<std::size_t>(std::max(n_threads, 1)), n);
    std::vector<std::jthread> threads;
    for (std::size_t thread = 1; thread < n_used; ++thread) threads.emplace_back(work, thread);
    if (n_used > 0) work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace chunkwise
