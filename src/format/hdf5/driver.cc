#include "format/hdf5/driver.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace chunkwise::hdf5 {
namespace {

constexpr haddr_t kMaxAddress = (haddr_t{1} << 63U) - 1;  // off_t
constexpr H5FD_mem_t kFreeListMap[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;

thread_local std::exception_ptr pending_error;

// What the library stores of us in a file access list; it copies it bytewise.
struct DriverInfo {
  DriverState* state;
};

// A file that the library opened by itself.
struct OtherFile {
  DriverState state;
  std::unique_ptr<Object> object;
};

// The library sees the first member only.
struct DriverFile {
  H5FD_t library_part;
  DriverState* state;
  std::unique_ptr<OtherFile> other;
};

DriverState& state_of(const H5FD_t* file) {
  return *reinterpret_cast<const DriverFile*>(file)->state;
}

// Exceptions must not cross C frames.
template <typename F>
herr_t guarded(DriverState& state, F&& body) noexcept {
  try {
    body();
    return 0;
  } catch (...) {
    if (state.keeps_errors) {
      if (!state.kept_error) state.kept_error = std::current_exception();
      state.discards_writes = true;
      return 0;
    }
    if (!pending_error) pending_error = std::current_exception();
    return -1;
  }
}

std::uint64_t checked_end(haddr_t address, std::uint64_t size) {
  if (address > kMaxAddress || size > kMaxAddress - address) {
    throw Error(Code::corrupt, fmt::format("address {} + {} is beyond any file", address, size));
  }
  return address + size;
}

// True if the transfer is only to be noted.
bool capture(DriverState& state, H5FD_mem_t type, haddr_t address, std::uint64_t size, const void* buffer) {
  if (type != H5FD_MEM_DRAW || state.capture == DriverState::Capture::none) return false;
  if (state.capture == DriverState::Capture::buffer && buffer != state.capture_buffer) return false;
  ++state.n_captured;
  state.captured_address = address;
  state.captured_bytes = size;
  return true;
}

void read_metadata(const DriverState& state, haddr_t address, std::size_t size, std::byte* out) {
  if (state.object != nullptr) {
    state.object->read(address, {out, size});
    return;
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(state.fd, out + done, size - done, static_cast<off_t>(address + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(Code::io, fmt::format("cannot read back {} bytes of metadata at byte {}: {}", size - done,
                                        address + done, std::strerror(errno)));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  // Allocated but never written: reads as zeros, as in a file with a hole.
  std::fill(out + done, out + size, std::byte{0});
}

// Null, without an error, if there is no such file.
std::unique_ptr<OtherFile> open_other(const char* name) {
  struct stat status {};
  if (name == nullptr || ::stat(name, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  auto other = std::make_unique<OtherFile>();
  other->object = open_file_object(name);
  other->state.object = other->object.get();
  other->state.eof = other->object->size_bytes();
  other->state.device = status.st_dev;
  other->state.inode = status.st_ino;
  return other;
}

extern "C" {

H5FD_t* driver_open(const char* name, unsigned flags, hid_t fapl, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(fapl));
  if (info == nullptr || info->state == nullptr) return nullptr;
  std::unique_ptr<DriverFile> made;
  try {
    made = std::make_unique<DriverFile>();
    made->state = info->state;
    // With a busy state it is the library that opens a file, with a copy of the list of one that it reads.
    if (info->state->is_open) {
      if (info->state->object == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
      made->other = open_other(name);
      if (!made->other) return nullptr;
      made->state = &made->other->state;
    }
  } catch (...) {
    if (!pending_error) pending_error = std::current_exception();
    return nullptr;
  }
  DriverFile* const file = made.release();
  file->state->is_open = true;
  file->state->eoa = 0;
  return &file->library_part;
}

// The list that the library opens other files with is made from this; it frees the copy with free().
void* driver_fapl_get(H5FD_t* file) {
  auto* const info = static_cast<DriverInfo*>(std::malloc(sizeof(DriverInfo)));
  if (info != nullptr) info->state = &state_of(file);
  return info;
}

herr_t driver_close(H5FD_t* file) {
  auto* ours = reinterpret_cast<DriverFile*>(file);
  ours->state->is_open = false;
  delete ours;
  return 0;
}

int driver_compare(const H5FD_t* a, const H5FD_t* b) {
  const DriverState* x = &state_of(a);
  const DriverState* y = &state_of(b);
  if (x->inode != 0 && y->inode != 0) {
    const auto p = std::tie(x->device, x->inode);
    const auto q = std::tie(y->device, y->inode);
    return p < q ? -1 : (p == q ? 0 : 1);
  }
  return std::less<>{}(x, y) ? -1 : (x == y ? 0 : 1);
}

herr_t driver_query(const H5FD_t* file, unsigned long* flags) {
  if (flags == nullptr) return 0;
  // No data sieve: raw data must not wait in a buffer of the library. Metadata is gathered only for writing: on reading
  // it gains nothing, and some damaged files make the library's buffer overflow.
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  // The library also asks without a file, what the driver can do in general.
  if (file == nullptr || state_of(file).fd >= 0) *flags |= H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t driver_get_eoa(const H5FD_t* file, H5FD_mem_t) {
  return state_of(file).eoa;
}

herr_t driver_set_eoa(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  if (address > kMaxAddress) return -1;
  state_of(file).eoa = address;
  return 0;
}

haddr_t driver_get_eof(const H5FD_t* file, H5FD_mem_t) {
  return state_of(file).eof;
}

herr_t driver_read(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, void* buffer) {
  DriverState& state = state_of(file);
  return guarded(state, [&] {
    checked_end(address, size);
    if (capture(state, type, address, size, buffer)) return;
    read_metadata(state, address, size, static_cast<std::byte*>(buffer));
  });
}

herr_t driver_write(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  DriverState& state = state_of(file);
  if (state.discards_writes) return 0;
  return guarded(state, [&] {
    const std::uint64_t end = checked_end(address, size);
    if (state.fd < 0) throw Error(Code::internal, "write to an HDF5 file opened for reading");
    if (!capture(state, type, address, size, buffer)) {
      const auto* bytes = static_cast<const std::byte*>(buffer);
      if (state.kept == nullptr)
        write_all(state.fd, bytes, size, address);
      else
        state.kept->for_each_gap(address, end, [&](std::uint64_t from, std::uint64_t to) {
          write_all(state.fd, bytes + (from - address), to - from, from);
        });
    }
    state.eof = std::max(state.eof, end);
  });
}

herr_t driver_flush(H5FD_t*, hid_t, hbool_t) {
  return 0;
}

herr_t driver_truncate(H5FD_t* file, hid_t, hbool_t) {
  DriverState& state = state_of(file);
  if (state.fd < 0 || state.discards_writes) return 0;
  return guarded(state, [&] {
    // Everything written, or still being written by encoding threads, lies below the end of allocation.
    struct stat status {};
    if (::fstat(state.fd, &status) != 0) {
      throw Error(Code::io, fmt::format("cannot tell the file's length: {}", std::strerror(errno)));
    }
    state.eof = state.eoa;
    if (static_cast<std::uint64_t>(status.st_size) == state.eoa) return;
    if (state.kept != nullptr) return;  // what is kept may lie behind the end of what is allocated again so far
    int result = 0;
    do {
      result = ::ftruncate(state.fd, static_cast<off_t>(state.eoa));
    } while (result < 0 && errno == EINTR);
    if (result < 0) throw Error(Code::io, fmt::format("cannot set the file's length: {}", std::strerror(errno)));
  });
}

}  // extern "C"

hid_t register_driver() {
  // Static: the library keeps a copy, but old versions keep the name's pointer.
  static H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(511);  // of the range for unregistered drivers
#endif
  driver.name = "chunkwise";
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.fapl_get = driver_fapl_get;
  driver.open = driver_open;
  driver.close = driver_close;
  driver.cmp = driver_compare;
  driver.query = driver_query;
  driver.get_eoa = driver_get_eoa;
  driver.set_eoa = driver_set_eoa;
  driver.get_eof = driver_get_eof;
  driver.read = driver_read;
  driver.write = driver_write;
  driver.flush = driver_flush;
  driver.truncate = driver_truncate;
  std::copy(std::begin(kFreeListMap), std::end(kFreeListMap), std::begin(driver.fl_map));
  return H5FDregister(&driver);
}

}  // namespace

void set_driver(const Lock& lock, hid_t fapl, DriverState& state) {
  static hid_t driver_id = H5I_INVALID_HID;  // guarded by the lock
  if (driver_id < 0 || H5Iis_valid(driver_id) <= 0) {
    driver_id = checked(lock, register_driver(), "cannot register the file driver", Code::internal);
  }
  const DriverInfo info{&state};
  checked(lock, H5Pset_driver(fapl, driver_id, &info), "cannot use the file driver", Code::internal);
}

std::exception_ptr take_driver_error() {
  return std::exchange(pending_error, nullptr);
}

void write_all(int fd, const void* data, std::uint64_t size_bytes, std::uint64_t offset) {
  const auto* bytes = static_cast<const std::byte*>(data);
  while (size_bytes > 0) {
    const ssize_t n = ::pwrite(fd, bytes, size_bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int reason = n < 0 ? errno : ENOSPC;
      throw Error(Code::io,
                  fmt::format("cannot write {} bytes at byte {}: {}", size_bytes, offset, std::strerror(reason)),
                  reason == ENOSPC || reason == EDQUOT ? "free space on the target's disk" : "");
    }
    bytes += n;
    offset += static_cast<std::uint64_t>(n);
    size_bytes -= static_cast<std::uint64_t>(n);
  }
}

}  // namespace chunkwise::hdf5
