#include "app/resumable.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "app/checkpointed.h"
#include "store/posix_file.h"

namespace chunkwise {
namespace {

/// An unfinished target, looked at.
struct Candidate {
  std::unique_ptr<Journal> journal;  // held; null if there is none to go on from
  std::unique_ptr<Journal> empty;    // held instead; of this very work, stopped before anything of it was safe
  std::string description;           // for people
  std::optional<Error> refusal;      // why it cannot go on; none, if it can or has no journal
};

bool is_same_file(const std::string& path, std::uint64_t node) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && status.st_ino == node;
}

Error refuse(Code code, const UnfinishedTarget& found, const std::string& why) {
  return {code, fmt::format("the unfinished target '{}' cannot be continued: {}", found.path, why),
          "without --resume the work begins anew; remove the unfinished target if it is of no use"};
}

Candidate look_at(const UnfinishedTarget& found, const WorkIdentity& now, bool resume) {
  Candidate candidate;
  candidate.description = "nothing of it can be used";
  if (!found.has_journal) return candidate;
  try {
    candidate.journal = Journal::open(found.journal);
  } catch (const Error& e) {
    candidate.description = e.what();
    candidate.refusal = refuse(Code::unsupported, found, e.what());
    return candidate;
  }
  if (candidate.journal == nullptr) {
    candidate.description = "another process is writing it";
    candidate.refusal = refuse(Code::exists, found, candidate.description);
    return candidate;
  }
  if (candidate.journal->is_empty()) {  // whose it is nobody can tell, so it stays
    candidate.journal = nullptr;
    return candidate;
  }
  const WorkIdentity& earlier = candidate.journal->identity();
  candidate.description =
      fmt::format("begun {:%Y-%m-%d %H:%M}, {:.0f} % done", fmt::localtime(static_cast<std::time_t>(earlier.started_s)),
                  100 * candidate.journal->fraction_done());
  if (!is_same_file(found.path, earlier.temporary_node)) {
    candidate.description = "not what its journal was written for";
    candidate.refusal = refuse(Code::unsupported, found, candidate.description);
  } else if (const auto why = what_differs(earlier, now)) {
    const bool asked_otherwise = earlier.program == now.program && earlier.source_bytes == now.source_bytes &&
                                 earlier.source_mtime_ns == now.source_mtime_ns &&
                                 earlier.source_hash == now.source_hash;
    candidate.refusal = refuse(asked_otherwise ? Code::usage : Code::unsupported, found, *why);
    candidate.description += "; " + *why;
  } else if (!candidate.journal->has_checkpoint()) {
    candidate.empty = std::move(candidate.journal);
  } else if (resume) {
    if (const auto changed = changed_since(earlier))
      candidate.refusal =
          refuse(Code::unsupported, found, fmt::format("'{}' of the source has changed since", *changed));
  }
  if (candidate.refusal) candidate.journal = nullptr;
  return candidate;
}

void remove_empty(const UnfinishedTarget& found, Journal& journal, const LogSink& log) {
  std::error_code error;
  std::filesystem::remove_all(found.path, error);
  if (error) posix::throw_io("remove", found.path, error.value());
  journal.remove();
  if (log)
    log(LogLevel::info, fmt::format("removed '{}': its run was stopped before anything of it was safe", found.path));
}

/// The journal of a target that got its name before its journal went: all that is left of a run that was killed in the
/// last moment.
void remove_stale(const UnfinishedTarget& found, const LogSink& log) {
  try {
    const std::unique_ptr<Journal> journal = Journal::open(found.journal);
    if (journal == nullptr) return;
    journal->remove();
    if (log) log(LogLevel::info, fmt::format("removed '{}': its target was completed", found.journal));
  } catch (const Error& e) {
    if (log) log(LogLevel::warning, fmt::format("'{}' belongs to no target: {}", found.journal, e.what()));
  }
}

}  // namespace

ResumableWork::ResumableWork(const RechunkRequest& request, const FormatRow& to, WorkIdentity identity,
                             const std::vector<ArrayMeta>& targets, const LogSink& log)
    : request_(request), to_(to) {
  const TargetKind kind = makes_directory(to, request.target) ? TargetKind::directory : TargetKind::file;
  done_ = std::make_unique<DoneChunks>(targets);
  const std::string unfinished = take_up(log, identity);
  staged_ = std::make_unique<StagedTarget>(request.target, kind, request.overwrite, unfinished);
  if (journal_ == nullptr) {
    identity.temporary = std::filesystem::path(staged_->path()).filename().string();
    journal_ = std::make_unique<Journal>(journal_of(staged_->path()), std::move(identity));
    return;
  }
  try {
    journal_->restore(*done_);
  } catch (...) {
    staged_->keep();
    throw;
  }
  resumed_ = {0, done_->n_done_before(), done_->bytes_done_before()};
}

std::string ResumableWork::take_up(const LogSink& log, const WorkIdentity& identity) {
  std::string taken;
  std::optional<Error> refusal;
  for (const UnfinishedTarget& found : unfinished_targets(request_.target)) {
    if (!found.is_there) {
      remove_stale(found, log);
      continue;
    }
    Candidate candidate = look_at(found, identity, request_.resume);
    if (request_.resume && candidate.journal != nullptr && journal_ == nullptr && to_.resume != nullptr) {
      journal_ = std::move(candidate.journal);
      taken = found.path;
      if (log) log(LogLevel::info, fmt::format("going on with '{}' ({})", found.path, candidate.description));
      continue;
    }
    if (request_.resume && candidate.empty != nullptr) {
      remove_empty(found, *candidate.empty, log);
      continue;
    }
    const bool can_go_on = candidate.journal != nullptr;
    if (!refusal && candidate.refusal) refusal = std::move(candidate.refusal);
    if (log)
      log(LogLevel::warning,
          fmt::format("an earlier run left '{}' unfinished ({}); {}", found.path, candidate.description,
                      can_go_on ? "--resume goes on with it, or remove it with its journal"
                                : "remove it if no run is at work on it"));
  }
  if (!request_.resume || journal_ != nullptr) return taken;
  if (refusal) throw std::move(*refusal);
  if (log) log(LogLevel::info, "nothing to resume: the work begins with the first chunk");
  return taken;
}

ResumableWork::~ResumableWork() {
  // Only after a failure that keeps nothing. Nobody is left to be told.
  if (journal_ != nullptr) try {
      journal_->remove();
    } catch (const Error&) {
    }
}

std::unique_ptr<Writer> ResumableWork::open_writer(const Hierarchy& tree) {
  if (!resumed_) return to_.create(path(), tree);
  EarlierWork earlier;
  earlier.for_each_state = [this](const std::function<void(ByteView)>& use) { journal_->for_each_state(use); };
  earlier.was_done = [this](std::size_t array, ChunkId id) { return done_->was_done(array, id); };
  return to_.resume(path(), tree, earlier);
}

void ResumableWork::run(Writer& writer, std::uint64_t total_bytes, const std::stop_token& stop,
                        const std::function<void(std::stop_token)>& work) {
  run_with_checkpoints(writer, *done_, *journal_, total_bytes,
                       request_.resume ? LastCheckpoint::if_begun : LastCheckpoint::unless_failed, stop, work);
}

Error ResumableWork::failed(Error error) {
  if (error.code() == Code::mismatch && journal_ != nullptr) {  // found on the way
    const std::string kept = fmt::format("the unfinished target is kept as {}", keep_for_inspection());
    return {Code::mismatch, fmt::format("verification failed: {}", error.what()),
            error.hint().empty() ? kept : fmt::format("{}; {}", kept, error.hint())};
  }
  const bool is_kept =
      journal_ != nullptr && journal_->has_checkpoint() && (error.code() == Code::interrupted || request_.resume);
  if (!is_kept) return error;
  const std::string path = staged_->keep();
  if (error.code() == Code::unsupported) {  // what is there cannot be gone on with; the error says so
    journal_.reset();
    return error;
  }
  const std::string go_on =
      fmt::format("the same command with --resume goes on; else remove '{}' and its journal", path);
  const std::string hint = error.hint().empty() ? go_on : error.hint() + "; " + go_on;
  const std::string kept = fmt::format("{:.0f} % is done and kept", 100 * journal_->fraction_done());
  Error told(error.code(), error.code() == Code::interrupted ? kept : error.message() + "; " + kept, hint);
  if (!error.where().empty()) told.in(error.where());
  journal_.reset();  // stays
  return told;
}

void ResumableWork::publish() {
  staged_->publish();
  journal_->remove();
  journal_.reset();
}

std::string ResumableWork::keep_for_inspection() {
  journal_->remove();
  journal_.reset();
  return staged_->keep();
}

}  // namespace chunkwise
