// Our virtual file driver for the HDF5 library.
//
// Reading: the library's metadata reads go to Object::read. Writing: to a local file descriptor. In capture mode raw
// data is not transferred, only its address and size are noted. So the library finds (H5Dread_chunk) or allocates and
// indexes (H5Dwrite_chunk) a chunk, and its bytes move outside the lock, in parallel. The library hands a driver
// absolute addresses: a user block is already counted in.
//
// While it reads a virtual dataset the library opens the files that it maps, with a copy of our access list. Those get
// a state of their own, for reading only.
//
// Which transfers are captured must be told by the buffer, not by the type alone: the metadata cache may evict global
// heap collections at any call, and those too arrive as H5FD_MEM_DRAW.
#pragma once

#include <cstdint>
#include <exception>

#include "format/hdf5/allocation.h"
#include "format/hdf5/handle.h"
#include "store/store.h"

namespace chunkwise::hdf5 {

/// What one open file and our side share. Guarded by the Lock. Must outlive the library's file.
struct DriverState {
  enum class Capture { none, buffer, all_raw };

  const Object* object = nullptr;  // reading
  int fd = -1;                     // writing
  /// While the library closes the file it must not see an error, or it leaves half-freed structures behind: the first
  /// one is kept here and the rest is dropped.
  bool keeps_errors = false;
  std::exception_ptr kept_error;
  bool is_open = false;
  bool discards_writes = false;  // the file is given up: accept and drop everything
  /// Of a file that the library opens by itself beside ours (see driver_open): which file it is.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  /// What of an earlier file at this place must stay: the library's own writes there (fill values of space allocated
  /// early) are dropped, and the file does not get shorter. Null: nothing.
  const KeptRanges* kept = nullptr;

  std::uint64_t eoa = 0;  // end of what the library has allocated
  std::uint64_t eof = 0;  // end of what is written, captured ranges included

  Capture capture = Capture::none;
  const void* capture_buffer = nullptr;
  std::uint64_t n_captured = 0;
  std::uint64_t captured_address = 0;
  std::uint64_t captured_bytes = 0;
};

/// Makes a file access list open its next file through our driver, on `state`.
void set_driver(const Lock& lock, hid_t fapl, DriverState& state);

/// The exception a driver callback had to swallow in this thread since the outermost Lock; null if none. Clears it.
std::exception_ptr take_driver_error();

/// Writes all of `size_bytes` at `offset`. Throws Error{io} with the system's reason. Thread-safe.
void write_all(int fd, const void* data, std::uint64_t size_bytes, std::uint64_t offset);

}  // namespace chunkwise::hdf5
