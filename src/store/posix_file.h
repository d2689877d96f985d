// System calls on files, with their failures told as Error.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace chunkwise::posix {

/// Owns a file descriptor. Movable.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Gives the descriptor away.
  int release() { return std::exchange(fd_, -1); }

 private:
  void close();
  int fd_ = -1;
};

/// Throws Error{io}: "cannot <action> '<path>': <what the system says>", with a hint where one is known.
[[noreturn]] void throw_io(const std::string& action, const std::string& path, int error);

/// A file without a name in `folder`, gone when the descriptor is, for reading and writing. Throws Error{io}.
Descriptor nameless_file(const std::string& folder);

/// Fills `out` from this offset. Throws Error{corrupt} if the file ends before, Error{io}.
void read_at(int fd, std::uint64_t offset, MutableByteView out, const std::string& path);

/// Writes all of it at the descriptor's position. Throws Error{io}.
void write_all(int fd, ByteView bytes, const std::string& path);

/// Writes all of it at this offset. Throws Error{io}.
void write_at(int fd, std::uint64_t offset, ByteView bytes, const std::string& path);

/// Lets the device begin with what was written to the file, so that it is busy meanwhile and little is left for the
/// end.
void begin_writeback(int fd) noexcept;

/// Makes a file or directory durable; file systems that cannot do so for directories are left alone. Throws Error{io}.
void sync_path(const std::string& path);

}  // namespace chunkwise::posix
