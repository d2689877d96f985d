#include "app/checkpointed.h"

#include <algorithm>

#include "base/error.h"
#include "rechunk/checkpoint.h"

namespace chunkwise {

void run_with_checkpoints(Writer& writer, DoneChunks& done, Journal& journal, std::uint64_t total_bytes,
                          LastCheckpoint last, const std::stop_token& stop,
                          const std::function<void(std::stop_token)>& work) {
  std::stop_source either;
  const std::stop_callback forward(stop, [&either] { either.request_stop(); });
  const auto before = static_cast<double>(done.bytes_done_before());
  const double total = std::max(1.0, static_cast<double>(total_bytes));
  Checkpointer checkpoints(
      CheckpointPolicy(), writer, done, journal,
      [&] { return std::min(1.0, (before + static_cast<double>(done.bytes_done_now())) / total); },
      [&either] { either.request_stop(); });
  const bool always = last == LastCheckpoint::always;
  try {
    work(either.get_token());
  } catch (const Error& e) {
    // A checkpoint that failed stopped the work, and is what should be told.
    if (e.code() == Code::interrupted || last != LastCheckpoint::unless_failed) checkpoints.finish(always);
    throw;
  }
  checkpoints.finish(always);
}

}  // namespace chunkwise
