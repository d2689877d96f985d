#include "store/cold_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "store/posix_file.h"

namespace chunkwise {
namespace {

struct Pages {
  std::uint64_t all = 0;
  std::uint64_t in_memory = 0;
};

void drop_file(const std::string& path, Pages& pages) {
  const posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) posix::throw_io("open", path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) posix::throw_io("look at", path, errno);
  if (status.st_size == 0) return;
  // Only clean pages can be dropped.
  static_cast<void>(::fdatasync(fd.get()));
  static_cast<void>(::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED));
  const auto size = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* map = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) posix::throw_io("map", path, errno);
  std::vector<unsigned char> resident((size + page - 1) / page);
  const int failed = ::mincore(map, size, resident.data()) == 0 ? 0 : errno;
  ::munmap(map, size);
  if (failed != 0) posix::throw_io("ask for the cached pages of", path, failed);
  pages.all += resident.size();
  pages.in_memory += static_cast<std::uint64_t>(
      std::count_if(resident.begin(), resident.end(), [](unsigned char c) { return (c & 1U) != 0; }));
}

}  // namespace

double drop_cached_pages(const std::string& path) {
  namespace fs = std::filesystem;
  Pages pages;
  std::error_code failure;
  if (fs::is_directory(path, failure)) {
    for (const auto& entry : fs::recursive_directory_iterator(path, failure)) {
      if (entry.is_regular_file()) drop_file(entry.path().string(), pages);
    }
    if (failure) posix::throw_io("list", path, failure.value());
  } else {
    drop_file(path, pages);
  }
  return pages.all == 0 ? 0 : static_cast<double>(pages.in_memory) / static_cast<double>(pages.all);
}

}  // namespace chunkwise
