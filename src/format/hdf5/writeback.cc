#include "format/hdf5/writeback.h"

#include <fcntl.h>

namespace chunkwise::hdf5 {
namespace {

constexpr std::uint64_t kStepBytes = 32U << 20U;

}  // namespace

Writeback::Writeback(int fd) : fd_(fd), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Writeback::~Writeback() = default;  // the thread is asked to stop, and joined

void Writeback::note(std::uint64_t written_bytes) {
  bool enough = false;
  {
    const std::lock_guard guard(mutex_);
    pending_bytes_ += written_bytes;
    enough = pending_bytes_ >= kStepBytes;
  }
  if (enough) changed_.notify_one();
}

void Writeback::run(const std::stop_token& stop) const {
  std::unique_lock guard(mutex_);
  while (changed_.wait(guard, stop, [this] { return pending_bytes_ >= kStepBytes; })) {
    pending_bytes_ = 0;
    guard.unlock();
#ifdef __linux__
    // Only a hint, on the whole file: chunks of a tile are scattered over it. fsync at the end reports errors.
    static_cast<void>(::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE));
#endif
    guard.lock();
  }
}

}  // namespace chunkwise::hdf5
