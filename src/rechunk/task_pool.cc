#include "rechunk/task_pool.h"

#include <utility>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace chunkwise {
namespace {

/// ThreadSanitizer does not see how libtbb hands a task to another thread, and must be told on both sides.
void hand_over([[maybe_unused]] void* to) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(to);
#endif
}
void take_over([[maybe_unused]] void* from) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(from);
#endif
}

}  // namespace

TaskPool::TaskPool(int n_threads, std::stop_token stop, std::function<void(std::exception_ptr)> fail)
    : stop_(std::move(stop)),
      fail_(std::move(fail)),
      parallelism_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(n_threads) + 1),
      arena_(n_threads, 0) {}

void TaskPool::enqueue(Tasks& among, Task&& task) {
  auto owned = std::make_unique<Task>(std::move(task));
  {
    const std::lock_guard lock(mutex_);
    ++n_tasks_;
    among.push_back(std::move(owned));
  }
  hand_over(this);
  arena_.enqueue([this] { run_next(); });
}

void TaskPool::run_next() {
  take_over(this);
  std::unique_ptr<Task> task;
  {
    const std::lock_guard lock(mutex_);
    Tasks& tasks = to_write_.empty() ? to_decode_ : to_write_;
    task = std::move(tasks.front());
    tasks.pop_front();
  }
  Worker& worker = workers_.local();
  if (!stop_.stop_requested()) {
    try {
      (*task)(worker);
    } catch (...) {
      fail_(std::current_exception());
    }
  }
  task.reset();  // it counts as done when what it held is given back
  const std::lock_guard lock(mutex_);
  totals_ += std::exchange(worker.totals, {});
  if (--n_tasks_ == 0) idle_.notify_all();
}

bool TaskPool::wait_idle(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, most, [this] { return n_tasks_ == 0; });
}

StageTotals TaskPool::totals() {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace chunkwise
