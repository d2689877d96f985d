// The journal of a rewrite: what was asked, from what, and which chunks are done and durable.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/dataset.h"
#include "array/hierarchy.h"
#include "base/bytes.h"
#include "rechunk/done_chunks.h"
#include "store/record_log.h"

namespace chunkwise {

/// What must be the same for a rewrite to go on where another ended.
struct WorkIdentity {
  std::string program;  // "rechunk 0.1.0"
  std::string source;   // absolute path
  std::uint64_t source_bytes = 0;
  std::int64_t source_mtime_ns = 0;
  std::uint64_t source_hash = 0;  // tree_hash of the source
  std::string format;             // of the target
  /// Path and layout in words, of every array of the target.
  std::vector<std::pair<std::string, std::string>> arrays;
  std::uint64_t target_hash = 0;     // tree_hash of the target
  std::string temporary;             // name of the unfinished target, in the journal's folder
  std::uint64_t temporary_node = 0;  // its inode: after an exchange of names, another dataset has the name
  std::int64_t started_s = 0;        // since 1970
};

/// The identity of a rewrite of `source` (a path) into a `target` of this format, but for the temporary.
/// Throws Error{io}.
WorkIdentity identify(const std::string& source, const Hierarchy& source_tree, std::string_view format,
                      const Hierarchy& target);

/// Why work described by `earlier` cannot go on as `now`; nothing if it can. In one sentence, for people.
std::optional<std::string> what_differs(const WorkIdentity& earlier, const WorkIdentity& now);

/// Of a source that is a directory: something in it that was changed after the work began, by its time of change. Looks
/// at everything in there. Throws Error{io}.
std::optional<std::string> changed_since(const WorkIdentity& earlier);

/// docs/journal.md has the grammar. Not thread-safe.
class Journal {
 public:
  /// A journal to be; the file is made with the first checkpoint. `identity.temporary_node` is filled in then.
  Journal(std::string path, WorkIdentity identity);
  /// An existing one, held; null if another process holds it. Throws Error{corrupt} if it cannot be understood.
  static std::unique_ptr<Journal> open(const std::string& path);

  const std::string& path() const { return path_; }
  /// True if it was cut off before it told what it is for: there is no identity.
  bool is_empty() const { return is_empty_; }
  const WorkIdentity& identity() const { return identity_; }
  /// True if there is a checkpoint to go on from.
  bool has_checkpoint() const { return n_checkpoints_ > 0; }
  /// Of the array data, as the last checkpoint said.
  double fraction_done() const { return fraction_done_; }

  /// `packed_done` from DoneChunks::take, `state` from Writer::checkpoint. Durable when it returns. Throws Error{io}.
  void append(double fraction_done, const Packer& packed_done, ByteView state);
  /// Throws Error{corrupt} if the chunks do not fit the arrays.
  void restore(DoneChunks& done) const;
  /// Says that nothing is left to do. Durable when it returns. Throws Error{io}.
  void append_end();
  bool is_complete() const { return is_complete_; }
  /// Calls `use` with the writer's state of every checkpoint, in order.
  void for_each_state(const std::function<void(ByteView)>& use) const;
  /// Removes the file, if there is one.
  void remove();

 private:
  Journal() = default;
  void begin();

  std::string path_;
  WorkIdentity identity_;
  std::optional<RecordLog> log_;
  bool is_empty_ = false;
  bool is_complete_ = false;
  std::uint64_t n_checkpoints_ = 0;
  double fraction_done_ = 0;
};

}  // namespace chunkwise
