#include "store/record_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.h"

namespace chunkwise {
namespace {

constexpr std::string_view kMagic = "chunkwise log 1\n";
/// Length of the payload, XXH3 of the payload: 8 bytes each, little-endian.
constexpr std::uint64_t kHeadBytes = 16;

void store_number(std::uint64_t value, std::byte* out) {
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t load_number(const std::byte* in) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::to_integer<std::uint64_t>(in[i]) << (8 * i);
  return value;
}

std::uint64_t file_bytes(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) posix::throw_io("examine", path, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void cut(int fd, std::uint64_t size_bytes, const std::string& path) {
  while (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0)
    if (errno != EINTR) posix::throw_io("shorten", path, errno);
}

void sync(int fd, const std::string& path) {
  while (::fdatasync(fd) != 0)
    if (errno != EINTR) posix::throw_io("make durable", path, errno);
}

/// Reads the record at `at`; false if it is not whole. Moves `at` behind it.
bool read_record(int fd, const std::string& path, std::uint64_t file_size, std::uint64_t& at, Bytes& payload) {
  std::array<std::byte, kHeadBytes> head{};
  if (file_size - at < head.size()) return false;
  posix::read_at(fd, at, head, path);
  const std::uint64_t length = load_number(head.data());
  if (length > file_size - at - head.size()) return false;
  payload.resize_discard(static_cast<std::size_t>(length));
  posix::read_at(fd, at + head.size(), payload.span(), path);
  if (XXH3_64bits(payload.data(), payload.size()) != load_number(head.data() + 8)) return false;
  at += head.size() + length;
  return true;
}

}  // namespace

RecordLog RecordLog::create(const std::string& path) {
  posix::Descriptor fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd && errno == EEXIST) throw Error(Code::exists, fmt::format("'{}' exists", path));
  if (!fd) posix::throw_io("create", path, errno);
  static_cast<void>(::flock(fd.get(), LOCK_EX | LOCK_NB));  // new, so nobody else; some file systems have no locks
  RecordLog log(path, std::move(fd));
  posix::write_all(log.fd_.get(), as_bytes(kMagic), path);
  sync(log.fd_.get(), path);
  log.end_ = kMagic.size();
  return log;
}

std::optional<RecordLog> RecordLog::open(const std::string& path) {
  posix::Descriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd && errno == ENOENT) throw Error(Code::not_found, fmt::format("there is no '{}'", path));
  if (!fd) posix::throw_io("open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  RecordLog log(path, std::move(fd));
  log.find_end();
  return log;
}

void RecordLog::find_end() {
  const std::uint64_t size = file_bytes(fd_.get(), path_);
  std::array<std::byte, kMagic.size()> magic{};
  const std::size_t n_magic = std::min<std::size_t>(size, magic.size());
  posix::read_at(fd_.get(), 0, std::span(magic).first(n_magic), path_);
  // Cut off while it was made, it begins as one.
  if (as_text(magic).substr(0, n_magic) != kMagic.substr(0, n_magic))
    throw Error(Code::corrupt, fmt::format("'{}' is not a journal", path_));
  end_ = n_magic < magic.size() ? 0 : magic.size();
  Bytes payload;
  while (end_ > 0 && read_record(fd_.get(), path_, size, end_, payload)) {
  }
  torn_ = end_ != size;
}

void RecordLog::append(ByteView payload) {
  if (torn_) {
    // Durable before anything is appended: a record must never follow the rest of a torn one.
    cut(fd_.get(), end_, path_);
    sync(fd_.get(), path_);
  }
  torn_ = true;
  if (end_ == 0) {
    posix::write_all(fd_.get(), as_bytes(kMagic), path_);
    end_ = kMagic.size();
  }
  if (::lseek(fd_.get(), static_cast<off_t>(end_), SEEK_SET) < 0) posix::throw_io("write", path_, errno);
  std::array<std::byte, kHeadBytes> head{};
  store_number(payload.size(), head.data());
  store_number(XXH3_64bits(payload.data(), payload.size()), head.data() + 8);
  posix::write_all(fd_.get(), head, path_);
  posix::write_all(fd_.get(), payload, path_);
  sync(fd_.get(), path_);
  end_ += head.size() + payload.size();
  torn_ = false;
}

void RecordLog::for_each(const std::function<void(ByteView payload)>& use) const {
  Bytes payload;
  for (std::uint64_t at = kMagic.size(); at < end_;) {
    if (!read_record(fd_.get(), path_, end_, at, payload))
      throw Error(Code::io, fmt::format("'{}' changed while it was read", path_));
    use(payload);
  }
}

}  // namespace chunkwise
