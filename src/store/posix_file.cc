#include "store/posix_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"

namespace chunkwise::posix {
namespace {

// More than this the kernel would not transfer in one call anyway.
constexpr std::size_t kMaxCallBytes = std::size_t{1} << 30;

const char* hint_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, or write to another file system";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f), or write to another file system";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of the folders above it";
    case EROFS:
      return "the file system is mounted read-only; write elsewhere";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    default:
      return "";
  }
}

}  // namespace

void Descriptor::close() {
  // Not repeated on EINTR: Linux has closed it by then.
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void throw_io(const std::string& action, const std::string& path, int error) {
  throw Error(Code::io, fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(error)),
              hint_for(error));
}

Descriptor nameless_file(const std::string& folder) {
  Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  std::string name = folder + "/.rechunk-tmp-XXXXXX";
  fd = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) throw_io("create", name, errno);
  static_cast<void>(::unlink(name.c_str()));
  return fd;
}

void read_at(int fd, std::uint64_t offset, MutableByteView out, const std::string& path) {
  while (!out.empty()) {
    const ssize_t n = ::pread(fd, out.data(), std::min(out.size(), kMaxCallBytes), static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_io(fmt::format("read {} bytes at byte {} of", out.size(), offset), path, errno);
    }
    if (n == 0) {
      throw Error(Code::corrupt,
                  fmt::format("'{}' ends at byte {}, where {} more are expected", path, offset, out.size()),
                  "the file is truncated; copy it again from its source");
    }
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
}

void write_all(int fd, ByteView bytes, const std::string& path) {
  const std::size_t all_bytes = bytes.size();
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kMaxCallBytes));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_io(fmt::format("write {} bytes at byte {} of", bytes.size(), all_bytes - bytes.size()), path, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void write_at(int fd, std::uint64_t offset, ByteView bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), std::min(bytes.size(), kMaxCallBytes), static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_io("write", path, errno);
    }
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void begin_writeback(int fd) noexcept {
  static_cast<void>(::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
}

void sync_path(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw_io("open", path, errno);
  while (::fsync(fd.get()) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
    throw_io("make durable", path, errno);
  }
}

}  // namespace chunkwise::posix
