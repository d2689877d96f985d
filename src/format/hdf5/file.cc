#include "format/hdf5/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/checked.h"
#include "format/hdf5/driver.h"
#include "format/hdf5/writeback.h"

namespace chunkwise::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

// The library's own switch; it does not tell apart 0 and FALSE either.
bool locking_is_off() {
  const char* value = std::getenv("HDF5_USE_FILE_LOCKING");
  return value != nullptr && (std::strcmp(value, "FALSE") == 0 || std::strcmp(value, "0") == 0);
}

// False only if another program holds a lock that forbids ours. File systems without locks are taken as they are.
bool try_lock(int fd, int operation) {
  return locking_is_off() || ::flock(fd, operation | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

Hid access_list(const Lock& lock, DriverState& driver) {
  Hid fapl = owned(lock, H5Pcreate(H5P_FILE_ACCESS), "cannot make a file access list", Code::internal);
  checked(lock, H5Pset_fclose_degree(fapl.get(), H5F_CLOSE_STRONG), "cannot set the close degree", Code::internal);
  set_driver(lock, fapl.get(), driver);
  return fapl;
}

/// What is read of a source is read once, in order: a cache that grows to its usual 32 MiB would gain nothing, and the
/// memory planned for the library does not hold it.
void limit_metadata_cache(const Lock& lock, hid_t fapl) {
  H5AC_cache_config_t config{};
  config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  checked(lock, H5Pget_mdc_config(fapl, &config), "cannot read the metadata cache's limits", Code::internal);
  config.set_initial_size = true;
  config.min_size = config.initial_size = std::size_t{1} << 20;
  config.max_size = std::size_t{2} << 20;
  checked(lock, H5Pset_mdc_config(fapl, &config), "cannot limit the metadata cache", Code::internal);
}

void close_quietly(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

std::optional<std::uint64_t> find_signature(const Object& object) {
  std::array<std::byte, kSignature.size()> bytes{};
  const std::uint64_t size = object.size_bytes();
  for (std::uint64_t at = 0; at < size && size - at >= bytes.size(); at = at == 0 ? 512 : at * 2) {
    object.read(at, bytes);
    if (as_text(bytes) == kSignature) return at;
  }
  return std::nullopt;
}

File::File() : driver_(std::make_unique<DriverState>()) {}

std::shared_ptr<File> File::open(const std::string& path) {
  std::shared_ptr<File> file(new File);
  file->path_ = path;
  file->object_ = open_file_object(path);
  const auto signature = find_signature(*file->object_);
  if (!signature) throw Error(Code::corrupt, "not an HDF5 file: it has no HDF5 signature").in(path);
  file->lock_fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file->lock_fd_ >= 0 && !try_lock(file->lock_fd_, LOCK_SH)) {
    throw Error(Code::io, "the file is open for writing in another program",
                "wait until it is closed, or set HDF5_USE_FILE_LOCKING=FALSE if you know it is not being written")
        .in(path);
  }
  std::byte version{};
  file->object_->read(*signature + kSignature.size(), {&version, 1});
  file->superblock_version_ = std::to_integer<unsigned>(version);
  file->driver_->object = file->object_.get();
  file->driver_->eof = file->object_->size_bytes();

  const Lock lock;
  const Hid fapl = access_list(lock, *file->driver_);
  limit_metadata_cache(lock, fapl.get());
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl.get());
  if (id < 0) {
    Error error = library_error(lock, "cannot open the HDF5 file");
    const bool truncated = error.message().find("truncated file") != std::string::npos;
    throw Error(error.code(), error.message(),
                truncated ? "the file ends early: copy or download it again" : error.hint())
        .in(error.where())
        .in(path);
  }
  file->id_ = Hid(id);
  const Hid fcpl = owned(lock, H5Fget_create_plist(id), "cannot read the file's properties");
  hsize_t userblock = 0;
  checked(lock, H5Pget_userblock(fcpl.get(), &userblock), "cannot read the size of the user block");
  file->userblock_bytes_ = userblock;
  return file;
}

std::shared_ptr<File> File::create(const std::string& path, const CreateOptions& options) {
  std::shared_ptr<File> file(new File);
  file->path_ = path;
  DriverState& driver = *file->driver_;
  driver.kept = options.kept;
  const int how = options.kept == nullptr ? O_CREAT | O_EXCL : O_NOFOLLOW;
  driver.fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | how, 0666);
  if (driver.fd < 0) {
    const Code code = errno == EEXIST ? Code::exists : errno == ENOENT ? Code::not_found : Code::io;
    throw Error(code, fmt::format("cannot create the file: {}", std::strerror(errno))).in(path);
  }
  try {
    static_cast<void>(try_lock(driver.fd, LOCK_EX));
    file->userblock_bytes_ = options.userblock.size();
    write_all(driver.fd, options.userblock.data(), options.userblock.size(), 0);
    // To the driver the file is still empty: only then the library begins a new one.

    const Lock lock;
    const Hid fapl = access_list(lock, driver);
    checked(lock, H5Pset_libver_bounds(fapl.get(), options.libver_low, options.libver_high),
            "cannot set the bounds of library versions", Code::unsupported);
    checked(lock, H5Pset_meta_block_size(fapl.get(), options.metadata_block_bytes), "cannot set the metadata block",
            Code::unsupported);
    const Hid fcpl = owned(lock, options.fcpl == H5P_DEFAULT ? H5Pcreate(H5P_FILE_CREATE) : H5Pcopy(options.fcpl),
                           "cannot copy the file creation list", Code::internal);
    checked(lock, H5Pset_userblock(fcpl.get(), options.userblock.size()),
            fmt::format("cannot have a user block of {} bytes", options.userblock.size()), Code::unsupported);
    file->id_ = owned(lock, H5Fcreate(path.c_str(), H5F_ACC_TRUNC, fcpl.get(), fapl.get()),
                      "cannot create the HDF5 file", Code::unsupported);
    H5F_info2_t info{};
    checked(lock, H5Fget_info2(file->id_.get(), &info), "cannot ask the new file", Code::internal);
    file->superblock_version_ = info.super.version;
  } catch (Error& error) {
    if (options.kept == nullptr) ::unlink(path.c_str());
    throw error.in(path);
  }
  file->writeback_ = std::make_unique<Writeback>(driver.fd);
  return file;
}

File::~File() {
  if (id_) {
    const Lock lock;
    // An unfinished target is worthless: do not spend time, or trip over a full disk, to complete it.
    if (driver_->fd >= 0) {
      driver_->keeps_errors = true;
      driver_->discards_writes = true;
    }
    H5Fclose(id_.release());
  }
  writeback_.reset();
  close_quietly(lock_fd_);
  close_quietly(driver_->fd);
  if (driver_->is_open) {
    // The library could not let go of the file and may use our state when the process ends: leave it, harmless.
    driver_->object = nullptr;
    driver_->discards_writes = true;
    static_cast<void>(driver_.release());
  }
}

const Object& File::object() const {
  CHUNKWISE_CHECK(object_ != nullptr);
  return *object_;
}

std::uint64_t File::size_bytes() const {
  return object().size_bytes();
}

H5F_libver_t File::libver_low() const {
  return superblock_version_ >= 3 ? H5F_LIBVER_V110 : superblock_version_ == 2 ? H5F_LIBVER_V18 : H5F_LIBVER_EARLIEST;
}

void File::write_at(std::uint64_t address, ByteView bytes) {
  CHUNKWISE_CHECK(driver_->fd >= 0);
  try {
    write_all(driver_->fd, bytes.data(), bytes.size(), address);
  } catch (Error& error) {
    throw error.in(path_);
  }
  writeback_->note(bytes.size());
}

void File::note(const Lock&, const Allocation& allocation) {
  noted_.push_back(allocation);
}

std::vector<Allocation> File::checkpoint() {
  std::vector<Allocation> noted;
  {
    const Lock lock;
    noted.swap(noted_);
  }
  if (::fdatasync(driver_->fd) != 0)
    throw Error(Code::io, fmt::format("cannot make the data durable: {}", std::strerror(errno))).in(path_);
  return noted;
}

void File::forget_noted(const Lock&) {
  noted_.clear();
}

void File::forget_kept(const Lock&) {
  driver_->kept = nullptr;
}

void File::finish() {
  CHUNKWISE_CHECK(driver_->fd >= 0 && id_);
  try {
    {
      const Lock lock;
      driver_->keeps_errors = true;
      checked(lock, H5Fflush(id_.get(), H5F_SCOPE_LOCAL), "cannot complete the HDF5 file", Code::internal);
      const herr_t closed = H5Fclose(id_.release());
      if (driver_->kept_error) std::rethrow_exception(driver_->kept_error);
      checked(lock, closed, "cannot close the HDF5 file", Code::internal);
      if (driver_->is_open) throw Error(Code::internal, "the HDF5 library has not closed the file");
    }
    writeback_.reset();
    if (::fsync(driver_->fd) != 0)
      throw Error(Code::io, fmt::format("cannot make the file durable: {}", std::strerror(errno)));
    const int closed = ::close(std::exchange(driver_->fd, -1));
    if (closed != 0) throw Error(Code::io, fmt::format("cannot close: {}", std::strerror(errno)));
  } catch (Error& error) {
    throw error.in(path_);
  }
}

RawCapture::RawCapture(const Lock& lock, File& file, const void* buffer) : driver_(*file.driver_) {
  static_cast<void>(lock);
  CHUNKWISE_CHECK(driver_.capture == DriverState::Capture::none);
  driver_.capture = buffer != nullptr ? DriverState::Capture::buffer : DriverState::Capture::all_raw;
  driver_.capture_buffer = buffer;
  clear();
}

RawCapture::~RawCapture() {
  driver_.capture = DriverState::Capture::none;
  driver_.capture_buffer = nullptr;
}

std::uint64_t RawCapture::n_transfers() const {
  return driver_.n_captured;
}
std::uint64_t RawCapture::address() const {
  return driver_.captured_address;
}
std::uint64_t RawCapture::size_bytes() const {
  return driver_.captured_bytes;
}
void RawCapture::clear() {
  driver_.n_captured = 0;
}

}  // namespace chunkwise::hdf5
