#include "store/staged.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

constexpr const char* kJournalSuffix = ".journal";
constexpr const char* kExistsHint = "give --overwrite to replace it, or another name";

bool means_absent(int error) {
  return error == ENOENT || error == ENOTDIR;
}

// What stands at a path; links are not followed. Nothing if nothing does.
std::optional<mode_t> mode_at(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return status.st_mode;
  if (means_absent(errno)) return std::nullopt;
  posix::throw_io("examine", path, errno);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_zarr(const std::string& directory) {
  for (const char* const marker : {".zgroup", ".zarray", "zarr.json"}) {
    const auto mode = mode_at(fmt::format("{}/{}", directory, marker));
    if (mode && S_ISREG(*mode)) return true;
  }
  return false;
}

// Throws unless what stands at the target may be replaced by a dataset of this kind.
void require_replaceable(const std::string& path, mode_t mode, TargetKind kind) {
  if (S_ISLNK(mode)) {
    throw Error(Code::exists, fmt::format("the target '{}' is a symbolic link, which is not replaced", path),
                "give the path the link points to, or remove the link");
  }
  if (kind == TargetKind::file && !S_ISREG(mode)) {
    throw Error(Code::exists, fmt::format("the target '{}' is not a file and is not replaced by one", path),
                "remove it yourself, or give another name");
  }
  if (kind == TargetKind::directory && !(S_ISDIR(mode) && is_zarr(path))) {
    throw Error(Code::exists, fmt::format("the target '{}' is not a Zarr directory and is not replaced by one", path),
                "remove it yourself, or give another name");
  }
}

void require_writable_folder(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) posix::throw_io("examine", folder, errno);
    throw Error(Code::not_found, fmt::format("there is no folder '{}' to write the target in", folder),
                "create the folder first");
  }
  if (!S_ISDIR(status.st_mode)) {
    throw Error(Code::not_found, fmt::format("'{}' is not a folder, so no target can be written in it", folder));
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) posix::throw_io("write in", folder, errno);
}

// How a name beside a target of this name begins. Long names are cut, since the addition must fit within the system's
// limit too.
std::string temporary_start(const std::string& name, const char* purpose) {
  constexpr std::size_t kMaxNameBytes = 200;
  return fmt::format(".{}.{}-", name.substr(0, kMaxNameBytes), purpose);
}

// True if a temporary's name may end so: "<pid>-<8 hexadecimal digits>".
bool is_temporary_end(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || dash == 0 || text.size() != dash + 9) return false;
  return text.find_first_not_of("0123456789") == dash &&
         text.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
}

std::string temporary_name(const std::string& final_path, const char* purpose) {
  static_assert(sizeof(std::random_device::result_type) >= 4);
  std::random_device random;
  const std::size_t slash = final_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : final_path.substr(0, slash + 1);
  return fmt::format("{}{}{}-{:08x}", folder, temporary_start(name_of(final_path), purpose), ::getpid(), random());
}

void rename_or_throw(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) posix::throw_io("rename the finished dataset to", to, errno);
}

[[noreturn]] void throw_appeared(const std::string& path) {
  throw Error(Code::exists, fmt::format("the target '{}' appeared while it was being written", path), kExistsHint);
}

// Flags that this kernel or file system does not know.
bool is_unknown_flag(int error) {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP;
}

// Moves to a name that must be free; false if it is taken.
bool rename_to_free(const std::string& from, const std::string& to, TargetKind kind) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (!is_unknown_flag(errno)) posix::throw_io("rename the finished dataset to", to, errno);
  if (kind == TargetKind::file) {
    // A hard link never replaces; file systems without them get the check below.
    if (::link(from.c_str(), to.c_str()) == 0) {
      if (::unlink(from.c_str()) != 0) posix::throw_io("remove", from, errno);
      return true;
    }
    if (errno == EEXIST) return false;
  }
  if (mode_at(to)) return false;
  rename_or_throw(from, to);
  return true;
}

void remove_tree(const std::string& path, std::error_code& error) {
  // Goes down by descriptors and removes links instead of following them.
  std::filesystem::remove_all(path, error);
}

}  // namespace

std::string journal_of(const std::string& temporary_path) {
  return temporary_path + kJournalSuffix;
}

std::vector<UnfinishedTarget> unfinished_targets(const std::string& final_path) {
  std::string trimmed = final_path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : trimmed.substr(0, slash + 1);
  const std::string start = temporary_start(name_of(trimmed), "rechunk");
  std::error_code error;
  std::map<std::string, UnfinishedTarget> by_name;
  for (std::filesystem::directory_iterator at(parent_of(trimmed), error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.compare(0, start.size(), start) != 0) continue;
    const bool is_journal = name.ends_with(kJournalSuffix);
    if (is_journal) name.resize(name.size() - std::strlen(kJournalSuffix));
    if (!is_temporary_end(std::string_view(name).substr(start.size()))) continue;
    UnfinishedTarget& found = by_name[name];
    (is_journal ? found.has_journal : found.is_there) = true;
  }
  // Without the right to list the folder a target can still be written in it.
  if (error && !means_absent(error.value()) && error.value() != EACCES)
    posix::throw_io("list", parent_of(trimmed), error.value());
  std::vector<UnfinishedTarget> all;
  for (auto& [name, found] : by_name) {
    found.path = folder + name;
    found.journal = journal_of(found.path);
    all.push_back(found);
  }
  const auto changed_ns = [](const UnfinishedTarget& one) {
    struct stat status {};
    if (::lstat((one.has_journal ? one.journal : one.path).c_str(), &status) != 0) return std::int64_t{0};
    return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const UnfinishedTarget& a, const UnfinishedTarget& b) { return changed_ns(a) > changed_ns(b); });
  return all;
}

StagedTarget::StagedTarget(std::string final_path, TargetKind kind, bool overwrite, std::string unfinished)
    : final_path_(std::move(final_path)), kind_(kind), overwrite_(overwrite) {
  while (final_path_.size() > 1 && final_path_.back() == '/') final_path_.pop_back();
  const std::string name = name_of(final_path_);
  if (name.empty() || name == "." || name == "..") {
    throw Error(Code::usage, fmt::format("'{}' is not a name a target can have", final_path_),
                "give the path of the file or directory to be created");
  }
  if (const auto mode = mode_at(final_path_)) {
    if (!overwrite_) throw Error(Code::exists, fmt::format("the target '{}' exists", final_path_), kExistsHint);
    require_replaceable(final_path_, *mode, kind_);
  }
  require_writable_folder(parent_of(final_path_));

  if (!unfinished.empty()) {
    temporary_path_ = std::move(unfinished);
    return;
  }
  constexpr int kMaxAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    temporary_path_ = temporary_name(final_path_, "rechunk");
    if (kind_ == TargetKind::file) {
      if (!mode_at(temporary_path_)) return;
    } else {
      if (::mkdir(temporary_path_.c_str(), 0777) == 0) return;
      if (errno != EEXIST) posix::throw_io("create", temporary_path_, errno);
    }
    if (attempt == kMaxAttempts) posix::throw_io("find a free name like", temporary_path_, EEXIST);
  }
}

StagedTarget::~StagedTarget() {
  if (done_) return;
  std::error_code ignored;  // nobody is left to be told
  remove_tree(temporary_path_, ignored);
}

void StagedTarget::publish() {
  CHUNKWISE_CHECK(!done_);
  const std::string folder = parent_of(final_path_);
  posix::sync_path(temporary_path_);
  posix::sync_path(folder);

  std::string replaced;  // where the old target went
  if (overwrite_ && kind_ == TargetKind::file) {
    if (const auto mode = mode_at(final_path_)) require_replaceable(final_path_, *mode, kind_);
    rename_or_throw(temporary_path_, final_path_);
  } else if (!rename_to_free(temporary_path_, final_path_, kind_)) {
    if (!overwrite_) throw_appeared(final_path_);
    if (const auto mode = mode_at(final_path_)) require_replaceable(final_path_, *mode, kind_);
    if (::renameat2(AT_FDCWD, temporary_path_.c_str(), AT_FDCWD, final_path_.c_str(), RENAME_EXCHANGE) == 0) {
      replaced = temporary_path_;
    } else if (is_unknown_flag(errno)) {
      // For a moment neither stands under the final name; should the second step fail, the old one comes back.
      replaced = temporary_name(final_path_, "rechunk-old");
      rename_or_throw(final_path_, replaced);
      if (::rename(temporary_path_.c_str(), final_path_.c_str()) != 0) {
        const int error = errno;
        if (::rename(replaced.c_str(), final_path_.c_str()) != 0)
          posix::throw_io("bring back the old", replaced, errno);
        posix::throw_io("rename the finished dataset to", final_path_, error);
      }
    } else {
      posix::throw_io("exchange the finished dataset with", final_path_, errno);
    }
  }
  done_ = true;
  posix::sync_path(folder);

  if (replaced.empty()) return;
  std::error_code error;
  remove_tree(replaced, error);
  if (error) {
    throw Error(Code::io,
                fmt::format("the target '{}' is complete, but the old one could not be removed and is now '{}': {}",
                            final_path_, replaced, error.message()),
                "remove what is left of the old dataset by hand");
  }
}

std::string StagedTarget::keep() {
  done_ = true;
  return temporary_path_;
}

}  // namespace chunkwise
