// Starts writing dirty pages to the device early, so that the fsync at the end has little left to do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace chunkwise::hdf5 {

/// One background thread per file being written; whoever writes never waits for the device. Thread-safe.
class Writeback {
 public:
  /// `fd` must stay open until the destructor has returned.
  explicit Writeback(int fd);
  ~Writeback();
  Writeback(const Writeback&) = delete;
  Writeback& operator=(const Writeback&) = delete;

  /// So many more bytes are in the page cache.
  void note(std::uint64_t written_bytes);

 private:
  void run(const std::stop_token& stop) const;

  const int fd_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::uint64_t pending_bytes_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace chunkwise::hdf5
