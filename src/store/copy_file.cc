#include "store/copy_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kPieceBytes = 64u << 20;
constexpr std::uint64_t kBlockBytes = 1u << 20;
constexpr std::uint64_t kSampledOf = 100;  // one block in so many

struct stat status_of(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) posix::throw_io("examine", path, errno);
  return status;
}

posix::Descriptor open_to_read(const std::string& path) {
  posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) posix::throw_io("open", path, errno);
  return fd;
}

void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted");
}

/// Copies through memory where the kernel cannot copy by itself.
class Piecewise {
 public:
  Piecewise(int from, const std::string& source, int to, const std::string& target)
      : from_(from), source_(source), to_(to), target_(target) {}

  void copy(std::uint64_t offset, std::uint64_t size_bytes) {
    while (size_bytes > 0 && kernel_copies_) {
      off_t in = static_cast<off_t>(offset);
      off_t out = in;
      const ssize_t n = ::copy_file_range(from_, &in, to_, &out, static_cast<std::size_t>(size_bytes), 0);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
        kernel_copies_ = false;
      if (n < 0 && kernel_copies_)
        posix::throw_io(fmt::format("copy {} bytes at offset {} to", size_bytes, offset), target_, errno);
      if (n == 0) kernel_copies_ = false;  // some file systems say so of what they cannot copy; reading will tell
      if (n <= 0) break;
      offset += static_cast<std::uint64_t>(n);
      size_bytes -= static_cast<std::uint64_t>(n);
    }
    if (size_bytes == 0) return;
    buffer_.resize_discard(static_cast<std::size_t>(size_bytes));
    posix::read_at(from_, offset, buffer_.span(), source_);
    if (::lseek(to_, static_cast<off_t>(offset), SEEK_SET) < 0) posix::throw_io("write", target_, errno);
    posix::write_all(to_, buffer_, target_);
  }

 private:
  int from_;
  const std::string& source_;
  int to_;
  const std::string& target_;
  bool kernel_copies_ = true;
  Bytes buffer_;
};

}  // namespace

std::uint64_t copy_file(const std::string& source, const std::string& target,
                        const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop) {
  const posix::Descriptor from = open_to_read(source);
  const struct stat before = status_of(from.get(), source);
  const auto size = static_cast<std::uint64_t>(before.st_size);
  posix::Descriptor to(::open(target.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!to) posix::throw_io("create", target, errno);
  static_cast<void>(::posix_fadvise(from.get(), 0, 0, POSIX_FADV_SEQUENTIAL));
  Piecewise pieces(from.get(), source, to.get(), target);
  for (std::uint64_t at = 0; at < size;) {
    check_stop(stop);
    const off_t data = ::lseek(from.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole until the end
    if (data >= 0) at = static_cast<std::uint64_t>(data);
    const off_t hole = data < 0 ? data : ::lseek(from.get(), data, SEEK_HOLE);
    const std::uint64_t end = hole < 0 ? size : std::min(size, static_cast<std::uint64_t>(hole));
    const std::uint64_t n = std::min(kPieceBytes, end - at);
    if (n == 0) break;
    pieces.copy(at, n);
    at += n;
    progress(at);
  }
  if (::ftruncate(to.get(), before.st_size) != 0) posix::throw_io("set the length of", target, errno);
  if (::fsync(to.get()) != 0) posix::throw_io("write", target, errno);
  const struct stat after = status_of(from.get(), source);
  if (after.st_size != before.st_size || after.st_mtim.tv_sec != before.st_mtim.tv_sec ||
      after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
    throw Error(Code::io, fmt::format("'{}' was changed while it was copied", source), "try again when it is at rest");
  progress(size);
  return size;
}

std::uint64_t compare_files(const std::string& source, const std::string& target, bool every_block,
                            const std::function<void(std::uint64_t)>& progress, const std::stop_token& stop) {
  const posix::Descriptor a = open_to_read(source);
  const posix::Descriptor b = open_to_read(target);
  const auto size = static_cast<std::uint64_t>(status_of(a.get(), source).st_size);
  const auto target_size = static_cast<std::uint64_t>(status_of(b.get(), target).st_size);
  if (size != target_size)
    throw Error(Code::mismatch, fmt::format("the copy has {} bytes, the source {}", target_size, size));
  static_cast<void>(::posix_fadvise(b.get(), 0, 0, POSIX_FADV_DONTNEED));
  Bytes block_a(static_cast<std::size_t>(kBlockBytes));
  Bytes block_b(static_cast<std::size_t>(kBlockBytes));
  std::uint64_t compared_bytes = 0;
  const std::uint64_t n_blocks = (size + kBlockBytes - 1) / kBlockBytes;
  for (std::uint64_t i = 0; i < n_blocks; ++i) {
    if (!every_block && i % kSampledOf != 0 && i + 1 != n_blocks) continue;
    check_stop(stop);
    const std::uint64_t offset = i * kBlockBytes;
    const auto n = static_cast<std::size_t>(std::min(kBlockBytes, size - offset));
    posix::read_at(a.get(), offset, block_a.span().first(n), source);
    posix::read_at(b.get(), offset, block_b.span().first(n), target);
    if (std::memcmp(block_a.data(), block_b.data(), n) != 0) {
      const auto first = std::mismatch(block_a.data(), block_a.data() + n, block_b.data()).first - block_a.data();
      throw Error(Code::mismatch, fmt::format("the copy differs from the source at byte {}",
                                              offset + static_cast<std::uint64_t>(first)));
    }
    compared_bytes += n;
    progress(offset + n);
  }
  return compared_bytes;
}

}  // namespace chunkwise
