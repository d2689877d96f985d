// A rewrite that can go on after it was interrupted: its temporary target, its journal, and what is done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/rechunk.h"
#include "base/error.h"
#include "base/log.h"
#include "format/registry.h"
#include "rechunk/done_chunks.h"
#include "rechunk/journal.h"
#include "report/rechunk_report.h"
#include "store/staged.h"

namespace chunkwise {

/// Its target is removed by the destructor unless it was published or kept.
class ResumableWork {
 public:
  /// Tells `log` of what earlier runs left beside the target. With request.resume, takes up the newest of it that was
  /// meant to become the same: Throws Error{usage} if there is only such as was meant to become something else,
  /// Error{unsupported} if the source or this program has changed since or the journal cannot be read, Error{exists} if
  /// another process is at work on it. What StagedTarget throws.
  ResumableWork(const RechunkRequest& request, const FormatRow& to, WorkIdentity identity,
                const std::vector<ArrayMeta>& targets, const LogSink& log);
  ~ResumableWork();
  ResumableWork(const ResumableWork&) = delete;
  ResumableWork& operator=(const ResumableWork&) = delete;

  /// Where the target is being made.
  const std::string& path() const { return staged_->path(); }
  /// What was done before; nothing if this begins anew.
  const std::optional<RechunkReport::Resumed>& resumed() const { return resumed_; }
  DoneChunks& done() { return *done_; }

  std::unique_ptr<Writer> open_writer(const Hierarchy& tree);
  /// Runs `work`, making checkpoints meanwhile and one at its end. Throws what either throws.
  void run(Writer& writer, std::uint64_t total_bytes, const std::stop_token& stop,
           const std::function<void(std::stop_token)>& work);
  /// Handles the failure of anything before publish(): keeps the target if work can go on from it, and returns the
  /// error with what the user can do.
  Error failed(Error error);
  /// As StagedTarget. The journal is removed afterwards.
  void publish();
  /// Leaves the target for inspection, with nothing to go on from; returns its path.
  std::string keep_for_inspection();

 private:
  std::string take_up(const LogSink& log, const WorkIdentity& identity);

  const RechunkRequest& request_;
  const FormatRow& to_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<StagedTarget> staged_;
  std::unique_ptr<DoneChunks> done_;
  std::optional<RechunkReport::Resumed> resumed_;
};

}  // namespace chunkwise
