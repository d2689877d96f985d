#include "store/forget_cached.h"

#include <fcntl.h>

#include <filesystem>
#include <system_error>

#include "store/posix_file.h"

namespace chunkwise {
namespace {

void forget_file(const std::string& path) {
  const posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
}

}  // namespace

void forget_cached(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    forget_file(path);
    return;
  }
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) forget_file(at->path().string());
}

}  // namespace chunkwise
