// A target that becomes visible only when it is complete.
#pragma once

#include <string>
#include <vector>

namespace chunkwise {

enum class TargetKind { file, directory };

/// What a process that was killed left beside a target.
struct UnfinishedTarget {
  std::string path;     // the name it has or had
  std::string journal;  // the name its journal has or would have
  bool is_there = false;
  bool has_journal = false;
};

/// Where the journal of an unfinished target lies: beside it.
std::string journal_of(const std::string& temporary_path);

/// What stands beside `final_path` under the names StagedTarget gives, newest first. Throws Error{io}.
std::vector<UnfinishedTarget> unfinished_targets(const std::string& final_path);

/// Reserves a temporary name beside `final_path` (".<name>.rechunk-<pid>-<random>", same file system). Until publish()
/// nothing stands under the final name; an unpublished target is removed by the destructor.
class StagedTarget {
 public:
  /// `unfinished`: go on with this one of unfinished_targets() instead; empty: a new one. Throws Error{exists} if the
  /// final path exists and `overwrite` is false; with it, only a regular file (kind file) or a Zarr directory (kind
  /// directory: .zgroup, .zarray or zarr.json inside) is ever replaced, a foreign folder is refused with Error{exists}.
  /// Throws Error{not_found} if the parent directory is missing, Error{io} if it is not writable. Creates an empty
  /// directory for kind directory, nothing for kind file.
  StagedTarget(std::string final_path, TargetKind kind, bool overwrite, std::string unfinished = {});
  ~StagedTarget();
  StagedTarget(const StagedTarget&) = delete;
  StagedTarget& operator=(const StagedTarget&) = delete;

  /// Where to write.
  const std::string& path() const { return temporary_path_; }
  /// fsyncs the parent, renames (exchanging with an old target, which is then removed), fsyncs again.
  void publish();
  /// Leaves the temporary where it is (verification failed, or work to go on with); returns its path.
  std::string keep();

 private:
  std::string final_path_;
  std::string temporary_path_;
  TargetKind kind_;
  bool overwrite_;
  bool done_ = false;
};

}  // namespace chunkwise
