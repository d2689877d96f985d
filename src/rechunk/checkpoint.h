// Checkpoints while work goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "array/dataset.h"
#include "rechunk/done_chunks.h"
#include "rechunk/journal.h"

namespace chunkwise {

/// When checkpoints are made. Work killed repeats what was done since the last one.
struct CheckpointPolicy {
  /// Less work than this is sooner repeated than kept.
  double first_s = 0.1;
  /// Due after this time, or after this share of the work, whichever comes first.
  double interval_s = 2;
  double share = 1.0 / 32;
  /// At least this many times as long as the last checkpoint took lies between two. A kill loses at most what was done
  /// in that time and in another checkpoint. Syncing is not lost time: what is on the disk now need not go there at the
  /// end.
  double rest = 0.25;
  /// Due at once when so many chunks wait to be entered, which bounds the memory they take.
  std::uint64_t n_pending = 64u << 10;
};

/// Makes checkpoints in a thread of its own, from construction to finish(). Whoever writes never waits for it. The
/// order is what makes a crash harmless: first the finished chunks are taken, then the writer makes everything written
/// so far durable, then the journal says so.
class Checkpointer {
 public:
  /// All must outlive this. `fail` is called, from the thread, if a checkpoint cannot be made: the work must end then,
  /// because a write error that the system has told once is not told again.
  Checkpointer(const CheckpointPolicy& policy, Writer& writer, DoneChunks& done, Journal& journal,
               std::function<double()> fraction_done, std::function<void()> fail);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Ends the thread. If the journal has been begun, or `always`, makes a last checkpoint. Throws what a checkpoint
  /// threw.
  void finish(bool always = false);

 private:
  void run(const std::stop_token& stop);
  bool is_due(double since_last_s, double fraction_since_last) const;
  void make_checkpoint();

  const CheckpointPolicy policy_;
  Writer& writer_;
  DoneChunks& done_;
  Journal& journal_;
  const std::function<double()> fraction_done_;
  const std::function<void()> fail_;
  bool supported_ = true;
  double last_cost_s_ = 0;
  std::exception_ptr error_;
  std::mutex mutex_;  // only to sleep
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace chunkwise
