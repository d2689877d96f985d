#include "format/hdf5/handle.h"

#include <fmt/format.h>

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

struct Reason {
  std::string text;
  bool is_of_version = false;  // the library met a number of a version it does not know
};

// Upwards: the first entry is the deepest. Its text is the reason; the ones above only say who called.
herr_t take_innermost(unsigned n, const H5E_error2_t* entry, void* out) {
  if (n > 0 || entry->desc == nullptr) return 0;
  auto& reason = *static_cast<Reason*>(out);
  reason.text = entry->desc;
  // Most places report a number of theirs under other minor codes, or none: then only the words tell.
  const auto says = [&](const char* words) { return reason.text.find(words) != std::string::npos; };
  reason.is_of_version = entry->min_num == H5E_VERSION || says("version number") || says("incorrect version") ||
                         says("'fail if unknown' flag") ||
                         (entry->maj_num == H5E_DATATYPE && entry->min_num == H5E_UNSUPPORTED);
  return 0;
}

Error needs_newer_library(const std::string& what, const std::string& reason) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return Error(Code::unsupported,
               fmt::format("{}: unless the file is damaged, it needs a newer HDF5 library than this one ({}.{}.{}): {}",
                           what, major, minor, release, reason),
               "a newer h5repack rewrites it for older libraries: h5repack --low=0 --high=2 IN OUT");
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
  Reason reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  if (code == Code::corrupt && reason.is_of_version) return needs_newer_library(what, reason.text);
  return Error(code, reason.text.empty() ? std::move(what) : what + ": " + reason.text);
}

Hid owned(const Lock& lock, hid_t id, const char* what, Code code) {
  if (id < 0) throw library_error(lock, what, code);
  return Hid(id);
}

Hid owned(const Lock& lock, hid_t id, const std::string& what, Code code) {
  return owned(lock, id, what.c_str(), code);
}

}  // namespace chunkwise::hdf5
