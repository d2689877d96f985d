// The HDF5 library behind one lock: handles that close themselves, errors that become chunkwise::Error.
// Include this instead of <hdf5.h>; it belongs to format/hdf5 alone.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#include "base/error.h"

namespace chunkwise::hdf5 {

/// The right to call the HDF5 library, in this thread, while it lives. One lock for the whole process, recursive; so a
/// function that calls H5* takes `const Lock&` and nobody calls H5* without one. Decoding, encoding and file I/O of
/// chunks never happen under it. The outermost Lock of a thread switches the library's error printing off, forgets
/// errors of earlier calls, and on first use registers the filters of codec/registry.h and keeps the library from
/// cleaning up when the process ends: what a damaged file left behind crashes it, and whoever wrote has closed by then.
class Lock {
 public:
  Lock();
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// In a process forked under this lock, before anything else there: makes the lock this process's own. Only who forks
  /// under the lock finds the library whole in the child, as no other thread was inside it.
  void take_over_in_child() const;
};

/// An HDF5 identifier, closed with the function of its type (files, groups, datasets, types, spaces, property lists,
/// attributes) when it dies; that takes the Lock by itself. Movable, thread-safe to destroy anywhere.
class Hid {
 public:
  Hid() = default;
  /// Takes over `id`; a negative one means "none". No check, see `owned`.
  explicit Hid(hid_t id) : id_(id) {}
  Hid(Hid&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Hid& operator=(Hid&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  ~Hid() { reset(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void reset() noexcept;
  hid_t release() { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// The error of the H5* call that has just failed in this thread: "<what>: <innermost message of the library>". If our
/// file driver failed underneath (disk full, read past the end), that error is returned, with `what` as its place.
/// `code` is used for errors of the library itself, but Error{unsupported} instead of Error{corrupt} if the library met
/// a version of the format that it does not know. Empties the library's error stack.
Error library_error(const Lock& lock, std::string what, Code code = Code::corrupt);

/// Takes over an id that must be valid: `owned(lock, H5Dopen2(...), "cannot open /T")`. Throws library_error.
Hid owned(const Lock& lock, hid_t id, const char* what, Code code = Code::corrupt);
Hid owned(const Lock& lock, hid_t id, const std::string& what, Code code = Code::corrupt);

/// For calls that return a negative number on failure; hands any other value back. Throws library_error.
template <typename T>
T checked(const Lock& lock, T result, const char* what, Code code = Code::corrupt) {
  if (result < 0) throw library_error(lock, what, code);
  return result;
}
template <typename T>
T checked(const Lock& lock, T result, const std::string& what, Code code = Code::corrupt) {
  if (result < 0) throw library_error(lock, what, code);
  return result;
}

}  // namespace chunkwise::hdf5
