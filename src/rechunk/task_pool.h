// The threads that decode, encode and write.
#pragma once

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "rechunk/stage_totals.h"
#include "rechunk/tile_run.h"

namespace chunkwise {

/// Runs tasks on threads of its own, in the order of their coming, but what is finished first: writing it gives memory
/// back, and it is kept if the work is cut off. Thread-safe; tasks may add tasks.
class TaskPool {
 public:
  using Task = std::function<void(Worker&)>;

  /// `fail` is told of what a task throws. After a stop tasks are dropped.
  TaskPool(int n_threads, std::stop_token stop, std::function<void(std::exception_ptr)> fail);

  void decode(Task task) { enqueue(to_decode_, std::move(task)); }
  void write(Task task) { enqueue(to_write_, std::move(task)); }
  /// True if nothing is waiting or at work, as soon as that is so, false after this time.
  bool wait_idle(std::chrono::milliseconds most);
  /// Of all tasks that have ended.
  StageTotals totals();

 private:
  using Tasks = std::deque<std::unique_ptr<Task>>;
  void enqueue(Tasks& among, Task&& task);
  void run_next();

  const std::stop_token stop_;
  const std::function<void(std::exception_ptr)> fail_;
  tbb::global_control parallelism_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<Worker> workers_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable idle_;
  std::size_t n_tasks_ = 0;  // waiting or at work
  Tasks to_write_;
  Tasks to_decode_;
  StageTotals totals_;
};

}  // namespace chunkwise
