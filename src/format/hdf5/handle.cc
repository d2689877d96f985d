#include "format/hdf5/handle.h"

#include <exception>
#include <mutex>

#include "format/hdf5/driver.h"
#include "format/hdf5/filter.h"

namespace chunkwise::hdf5 {
namespace {

std::recursive_mutex*& library_mutex() {
  static std::recursive_mutex* mutex = new std::recursive_mutex;  // handles may be closed by static destructors
  return mutex;
}

thread_local int lock_depth = 0;
thread_local bool printing_off = false;

// Upwards: the first entry is the deepest. Its text is the reason; the ones above only say who called.
herr_t take_innermost(unsigned n, const H5E_error2_t* entry, void* out) {
  if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
  return 0;
}

}  // namespace

Lock::Lock() {
  library_mutex()->lock();
  if (lock_depth++ > 0) return;
  static bool may_clean_up = true;                          // guarded by the lock, as the next
  if (std::exchange(may_clean_up, false)) H5dont_atexit();  // must be the first call of the library
  if (!printing_off) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    printing_off = true;
  }
  take_driver_error();
  static bool filters_registered = false;  // guarded by the lock
  if (!filters_registered) {
    filters_registered = true;
    register_codec_filters();
  }
}

Lock::~Lock() {
  --lock_depth;
  library_mutex()->unlock();
}

void Lock::take_over_in_child() const {
  // The mutex knows its owner by the number of the thread, which is another one here.
  library_mutex() = new std::recursive_mutex;
  for (int i = 0; i < lock_depth; ++i) library_mutex()->lock();
}

void Hid::reset() noexcept {
  const hid_t id = release();
  if (id < 0) return;
  const Lock lock;
  switch (H5Iget_type(id)) {
    case H5I_FILE:
      H5Fclose(id);
      break;
    case H5I_GROUP:
      H5Gclose(id);
      break;
    case H5I_DATATYPE:
      H5Tclose(id);
      break;
    case H5I_DATASPACE:
      H5Sclose(id);
      break;
    case H5I_DATASET:
      H5Dclose(id);
      break;
    case H5I_ATTR:
      H5Aclose(id);
      break;
    case H5I_GENPROP_LST:
      H5Pclose(id);
      break;
    case H5I_BADID:
      break;  // its file has been closed
    default:
      H5Idec_ref(id);
      break;
  }
}

Error library_error(const Lock&, std::string what, Code code) {
  if (const std::exception_ptr pending = take_driver_error()) {
    H5Eclear2(H5E_DEFAULT);
    try {
      std::rethrow_exception(pending);
    } catch (Error& error) {
      return error.in(what);
    } catch (const std::exception& error) {
      return Error(Code::internal, what + ": " + error.what());
    }
  }
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  return Error(code, reason.empty() ? std::move(what) : what + ": " + reason);
}

Hid owned(const Lock& lock, hid_t id, const char* what, Code code) {
  if (id < 0) throw library_error(lock, what, code);
  return Hid(id);
}

Hid owned(const Lock& lock, hid_t id, const std::string& what, Code code) {
  return owned(lock, id, what.c_str(), code);
}

}  // namespace chunkwise::hdf5
