// A directory as a store. Every path is resolved below an open descriptor of the root: by openat2 where the kernel has
// it, which refuses to leave the root, else (and for what openat2 refuses too eagerly, such as an absolute link that
// points back into the root) by looking where the descriptor ended before it is used.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sizes.h"
#include "store/posix_file.h"
#include "store/store.h"
#include "store/store_key.h"

namespace chunkwise {
namespace {

using posix::Descriptor;

// No such object. ENOTDIR: something above it is an object.
bool means_absent(int error) {
  return error == ENOENT || error == ENOTDIR;
}

/// The system puts smaller objects together better than we would.
constexpr std::size_t kMinWriteback_bytes = 256 * 1024;

class FileObject final : public Object {
 public:
  FileObject(Descriptor fd, std::uint64_t size_bytes, std::string path)
      : fd_(std::move(fd)), size_bytes_(size_bytes), path_(std::move(path)) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }

  void read(std::uint64_t offset, MutableByteView out) const override {
    if (offset > size_bytes_ || out.size() > size_bytes_ - offset) {
      throw Error(
          Code::corrupt,
          fmt::format("'{}' has {} bytes, but {} at byte {} are asked for", path_, size_bytes_, out.size(), offset),
          "the file is truncated or its metadata is damaged; copy it again from its source");
    }
    posix::read_at(fd_.get(), offset, out, path_);
  }

 private:
  Descriptor fd_;
  std::uint64_t size_bytes_;
  std::string path_;
};

class FilePieces final : public PieceWriter {
 public:
  FilePieces(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  void write(std::uint64_t offset, ByteView bytes) override { posix::write_at(fd_.get(), offset, bytes, path_); }

  void close() override {
    if (fd_) posix::begin_writeback(fd_.get());
    // Some file systems report a full disk only now.
    if (fd_ && ::close(fd_.release()) != 0 && errno != EINTR) posix::throw_io("write", path_, errno);
  }

 private:
  Descriptor fd_;
  std::string path_;
};

struct stat status_of(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) posix::throw_io("examine", path, errno);
  return status;
}

class DirectoryStore final : public Store {
 public:
  explicit DirectoryStore(std::string root) : root_(std::move(root)) {
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  }

  std::unique_ptr<Object> open(std::string_view key) const override {
    check_key(key, root_);
    const std::string path = path_of(key);
    // O_NONBLOCK: a named pipe must not make us wait.
    Descriptor fd = resolve(key, O_RDONLY | O_NONBLOCK, 0);
    if (!fd) {
      refuse_dead_link(key);
      return nullptr;
    }
    const struct stat status = status_of(fd.get(), path);
    if (S_ISDIR(status.st_mode)) return nullptr;
    if (!S_ISREG(status.st_mode)) throw Error(Code::io, fmt::format("'{}' is not a regular file", path));
    return std::make_unique<FileObject>(std::move(fd), static_cast<std::uint64_t>(status.st_size), path);
  }

  std::optional<Bytes> read(std::string_view key, std::uint64_t max_bytes) const override {
    const std::unique_ptr<Object> object = open(key);
    if (!object) return std::nullopt;
    if (object->size_bytes() > max_bytes) {
      throw Error(Code::corrupt, fmt::format("'{}' has {}, more than the {} it can have", path_of(key),
                                             format_bytes(object->size_bytes()), format_bytes(max_bytes)));
    }
    Bytes bytes(static_cast<std::size_t>(object->size_bytes()));
    object->read(0, bytes.span());
    return bytes;
  }

  std::optional<std::uint64_t> size_bytes(std::string_view key) const override {
    check_key(key, root_);
    const Descriptor fd = resolve(key, O_PATH, 0);
    if (!fd) {
      refuse_dead_link(key);
      return std::nullopt;
    }
    const struct stat status = status_of(fd.get(), path_of(key));
    if (S_ISDIR(status.st_mode)) return std::nullopt;
    if (!S_ISREG(status.st_mode)) throw Error(Code::io, fmt::format("'{}' is not a regular file", path_of(key)));
    return static_cast<std::uint64_t>(status.st_size);
  }

  void write(std::string_view key, ByteView bytes) override {
    Descriptor fd = make(key, O_TRUNC);
    const std::string path = path_of(key);
    posix::write_all(fd.get(), bytes, path);
    if (bytes.size() >= kMinWriteback_bytes) posix::begin_writeback(fd.get());
    // Some file systems report a full disk only now.
    if (::close(fd.release()) != 0 && errno != EINTR) posix::throw_io("write", path, errno);
  }

  std::unique_ptr<PieceWriter> open_pieces(std::string_view key, std::optional<std::uint64_t> most_bytes) override {
    Descriptor fd = make(key, 0);
    const std::string path = path_of(key);
    if (most_bytes && static_cast<std::uint64_t>(status_of(fd.get(), path).st_size) > *most_bytes &&
        ::ftruncate(fd.get(), static_cast<off_t>(*most_bytes)) != 0) {
      posix::throw_io("cut", path, errno);
    }
    return std::make_unique<FilePieces>(std::move(fd), path);
  }

  std::vector<Entry> list(std::string_view prefix) const override;
  void list_sizes(std::string_view prefix, const std::function<void(const SizedEntry&)>& found) const override;

  void sync() override {
    const Descriptor fd = resolve(".", O_RDONLY | O_DIRECTORY, 0);
    if (!fd) return;  // nothing was ever written
    // One call for the file system, because a store may hold millions of files.
    while (::syncfs(fd.get()) != 0) {
      if (errno != EINTR) posix::throw_io("make durable", root_, errno);
    }
  }

 private:
  std::string path_of(std::string_view key) const { return key.empty() ? root_ : fmt::format("{}/{}", root_, key); }

  // The root, or -1 if it does not exist yet.
  int root_fd() const {
    const std::lock_guard lock(root_mutex_);
    if (!root_fd_) {
      root_fd_ = Descriptor(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!root_fd_ && !means_absent(errno)) posix::throw_io("open", root_, errno);
    }
    return root_fd_.get();
  }

  // Opens for writing. The parents are made when the system says they are missing: no list of known ones has to be
  // kept.
  Descriptor make(std::string_view key, int flags) {
    check_key(key, root_);
    const int all_flags = O_WRONLY | O_CREAT | O_NONBLOCK | flags;
    Descriptor fd = resolve(key, all_flags, 0666);
    if (!fd) {
      make_prefixes(key);
      fd = resolve(key, all_flags, 0666);
    }
    if (!fd) posix::throw_io("create", path_of(key), ENOTDIR);
    return fd;
  }

  // Opens below the root. Empty if there is nothing of this name (or, for creation, nothing above it).
  Descriptor resolve(std::string_view key, int flags, mode_t mode) const;
  Descriptor resolve_and_look(const std::string& key, int flags, mode_t mode) const;
  void require_inside(int fd, const std::string& key) const;
  [[noreturn]] void refuse_circle(std::string_view key) const;
  void refuse_dead_link(std::string_view key) const;
  void make_prefixes(std::string_view key);
  template <typename Found>
  void for_each_name(std::string_view prefix, const Found& found) const;
  bool is_listed(const dirent& entry, const std::string& key, bool& is_prefix) const;

  std::string root_;
  mutable std::mutex root_mutex_;
  mutable Descriptor root_fd_;
};

Descriptor DirectoryStore::resolve(std::string_view key, int flags, mode_t mode) const {
  const int root = root_fd();
  if (root < 0) return {};
  const std::string name(key);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root, name.c_str(), &how, sizeof(how));
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    switch (errno) {
      case EINTR:
        continue;
      case EXDEV:   // leaves the root, or seems to
      case EAGAIN:  // a rename elsewhere made the kernel unsure
      case ENOSYS:  // old kernel
      case EPERM:   // a sandbox that does not know the call
      case EINVAL:
        return resolve_and_look(name, flags, mode);
      default:
        if (means_absent(errno)) return {};
        if (errno == ELOOP && (flags & O_NOFOLLOW) == 0) refuse_circle(key);
        posix::throw_io((flags & O_CREAT) != 0 ? "create" : "open", path_of(key), errno);
    }
  }
}

Descriptor DirectoryStore::resolve_and_look(const std::string& key, int flags, mode_t mode) const {
  // What is to be created has no descriptor to look at, so its folder is looked at, and a link in its place not
  // followed.
  const bool creates = (flags & O_CREAT) != 0;
  const std::size_t slash = key.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : key.substr(0, slash);
  const std::string looked_at = creates ? folder : key;
  const Descriptor place(::openat(root_fd(), looked_at.c_str(), O_PATH | O_CLOEXEC));
  if (!place) {
    if (means_absent(errno)) return {};
    if (errno == ELOOP) refuse_circle(key);
    posix::throw_io("open", path_of(looked_at), errno);
  }
  require_inside(place.get(), looked_at);
  Descriptor fd;
  if (creates) {
    const std::string name = slash == std::string::npos ? key : key.substr(slash + 1);
    fd = Descriptor(::openat(place.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
  } else if ((flags & O_PATH) != 0) {
    fd = Descriptor(::fcntl(place.get(), F_DUPFD_CLOEXEC, 0));
  } else {
    fd = Descriptor(::open(fmt::format("/proc/self/fd/{}", place.get()).c_str(), flags | O_CLOEXEC));
  }
  if (fd) return fd;
  if (creates && errno == ELOOP) {
    throw Error(Code::unsupported, fmt::format("'{}' is a symbolic link and is not written through", path_of(key)),
                "remove the link");
  }
  if (means_absent(errno)) return {};
  posix::throw_io(creates ? "create" : "open", path_of(key), errno);
}

void DirectoryStore::require_inside(int fd, const std::string& key) const {
  const auto name_of = [&](int descriptor) {
    char buffer[PATH_MAX];
    const ssize_t n = ::readlink(fmt::format("/proc/self/fd/{}", descriptor).c_str(), buffer, sizeof(buffer));
    if (n < 0 || n == static_cast<ssize_t>(sizeof(buffer)))
      posix::throw_io("examine", path_of(key), n < 0 ? errno : ENAMETOOLONG);
    return std::string(buffer, static_cast<std::size_t>(n));
  };
  std::string root = name_of(root_fd());
  const std::string name = name_of(fd);
  if (name == root) return;
  if (root.back() != '/') root += '/';
  if (name.compare(0, root.size(), root) == 0) return;
  throw Error(Code::unsupported,
              fmt::format("'{}' leads out of the dataset by a symbolic link, to '{}'", path_of(key), name),
              "open what the link points to, or copy it into the dataset");
}

void DirectoryStore::refuse_circle(std::string_view key) const {
  throw Error(Code::unsupported, fmt::format("'{}' leads in a circle by symbolic links", shown_key(path_of(key))),
              "remove the link that points back");
}

// Of a name that nothing was found under: a link that leads nowhere is not absent. What it stands for lies on a disk
// that is not there, perhaps.
void DirectoryStore::refuse_dead_link(std::string_view key) const {
  const Descriptor fd = resolve(key, O_PATH | O_NOFOLLOW, 0);
  if (!fd || !S_ISLNK(status_of(fd.get(), path_of(key)).st_mode)) return;
  throw Error(Code::corrupt, fmt::format("'{}' is a symbolic link that leads nowhere", path_of(key)),
              "bring back what it points to, or remove the link if that is gone for good");
}

void DirectoryStore::make_prefixes(std::string_view key) {
  if (root_fd() < 0) {
    if (::mkdir(root_.c_str(), 0777) != 0 && errno != EEXIST) posix::throw_io("create", root_, errno);
    if (root_fd() < 0) posix::throw_io("create", root_, ENOTDIR);
  }
  for (std::size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/', slash + 1)) {
    const std::string_view prefix = key.substr(0, slash);
    const std::size_t last = prefix.rfind('/');
    const std::string_view above = last == std::string_view::npos ? "." : prefix.substr(0, last);
    const Descriptor folder = resolve(above, O_PATH | O_DIRECTORY, 0);
    const std::string name(last == std::string_view::npos ? prefix : prefix.substr(last + 1));
    if (!folder) posix::throw_io("create", path_of(prefix), ENOTDIR);
    if (::mkdirat(folder.get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
      posix::throw_io("create", path_of(prefix), errno);
    }
  }
}

// False for what is neither an object nor a prefix: pipes, sockets, links that lead nowhere.
bool DirectoryStore::is_listed(const dirent& entry, const std::string& key, bool& is_prefix) const {
  is_prefix = entry.d_type == DT_DIR;
  if (entry.d_type == DT_DIR || entry.d_type == DT_REG) return true;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return false;
  const Descriptor fd = resolve(key, O_PATH, 0);
  if (!fd) return false;
  const struct stat status = status_of(fd.get(), path_of(key));
  is_prefix = S_ISDIR(status.st_mode);
  return is_prefix || S_ISREG(status.st_mode);
}

/// Calls found(entry, descriptor of the folder) for all that lies in a folder.
template <typename Found>
void DirectoryStore::for_each_name(std::string_view prefix, const Found& found) const {
  if (!prefix.empty()) check_key(prefix, root_);
  const std::string path = path_of(prefix);
  Descriptor fd = resolve(prefix.empty() ? "." : prefix, O_RDONLY | O_DIRECTORY, 0);
  if (!fd) {
    if (!prefix.empty()) refuse_dead_link(prefix);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd.get()), ::closedir);
  if (!directory) posix::throw_io("list", path, errno);
  const int folder = fd.release();
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) posix::throw_io("list", path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") found(*entry, folder);
  }
}

std::vector<Store::Entry> DirectoryStore::list(std::string_view prefix) const {
  std::vector<Entry> entries;
  for_each_name(prefix, [&](const dirent& found, int) {
    Entry entry{found.d_name, false};
    const std::string key = prefix.empty() ? entry.name : fmt::format("{}/{}", prefix, entry.name);
    if (is_listed(found, key, entry.is_prefix)) entries.push_back(std::move(entry));
  });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

void DirectoryStore::list_sizes(std::string_view prefix, const std::function<void(const SizedEntry&)>& found) const {
  for_each_name(prefix, [&](const dirent& entry, int folder) {
    if (entry.d_type == DT_DIR) return found({entry.d_name, true, 0});
    const std::string key = prefix.empty() ? entry.d_name : fmt::format("{}/{}", prefix, entry.d_name);
    struct stat status {};
    if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (means_absent(errno)) return;  // gone since
      posix::throw_io("examine", path_of(key), errno);
    }
    if (S_ISREG(status.st_mode)) return found({entry.d_name, false, static_cast<std::uint64_t>(status.st_size)});
    // Links are followed only where that is allowed. What is no file is there all the same: reading it is an error.
    bool is_prefix = false;
    if (!is_listed(entry, key, is_prefix)) return found({entry.d_name, false, 0});
    if (is_prefix) return found({entry.d_name, true, 0});
    if (const auto size = size_bytes(key)) found({entry.d_name, false, *size});
  });
}

}  // namespace

std::unique_ptr<Store> open_directory_store(const std::string& root) {
  if (root.empty()) throw Error(Code::usage, "the path of a dataset is empty");
  return std::make_unique<DirectoryStore>(root);
}

std::unique_ptr<Object> open_file_object(const std::string& path) {
  Descriptor fd;
  do {
    fd = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  } while (!fd && errno == EINTR);
  if (!fd) {
    if (means_absent(errno)) throw Error(Code::not_found, fmt::format("there is no file '{}'", path), "check the path");
    posix::throw_io("open", path, errno);
  }
  const struct stat status = status_of(fd.get(), path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(Code::not_found, fmt::format("'{}' is {}, not a file", path,
                                             S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe"));
  }
  return std::make_unique<FileObject>(std::move(fd), static_cast<std::uint64_t>(status.st_size), path);
}

}  // namespace chunkwise
