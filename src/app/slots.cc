#include "app/slots.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "app/checkpointed.h"
#include "app/prepare.h"
#include "app/slot_folder.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "rechunk/execute.h"
#include "rechunk/share.h"
#include "rechunk/verify.h"
#include "store/forget_cached.h"
#include "store/staged.h"

namespace chunkwise {
namespace {

std::uint64_t node_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::uint64_t total_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const ArrayPlan& array : plan.arrays) bytes += array.decoded_bytes;
  return bytes;
}

std::vector<Shape> boxes_of(const PlannedRewrite& planned) {
  std::vector<Shape> boxes;
  for (std::size_t i = 0; i < planned.targets.size(); ++i) {
    const ArrayPlan& array = planned.plan.arrays[i];
    boxes.push_back(is_shared(array, planned.targets[i]) ? boxes_of_shares(array, planned.targets[i]).chunk()
                                                         : Shape{});
  }
  return boxes;
}

/// What all steps begin with: the request as it was planned, and the plan made up again.
struct Slots {
  SlotFolder folder;
  SlotPlan agreed;
  RechunkRequest request;
  OpenedRequest opened;
  PlannedRewrite planned;
  WorkIdentity identity;

  bool makes_directory() const { return opened.to->is_directory; }
};

/// Throws Error{unsupported} if it comes out otherwise than it was agreed on.
Slots take_up(const RechunkRequest& asked, const RechunkObserver& observer, RechunkReport& report) {
  Slots slots{SlotFolder(asked.target), {}, {}, {}, {}, {}};
  slots.agreed = slots.folder.need_plan();
  slots.request = as_planned(slots.agreed, asked);
  slots.opened = open_request(slots.request, report);
  const auto refuse = [&](const std::string& why) {
    return Error(Code::unsupported, fmt::format("the plan for '{}' cannot be carried out: {}", asked.target, why),
                 fmt::format("remove '{}' and plan anew", slots.folder.path()));
  };
  // First, since another source may not even fit the request.
  WorkIdentity now = identify(slots.request.source, slots.opened.reader->tree(), slots.opened.to->name, {});
  now.arrays = slots.agreed.identity.arrays;
  now.target_hash = slots.agreed.identity.target_hash;
  if (const auto why = what_differs(slots.agreed.identity, now)) throw refuse(*why);
  slots.planned = plan_rewrite(slots.request, slots.opened, observer, slots.agreed.memory, report);
  slots.identity =
      identify(slots.request.source, slots.opened.reader->tree(), slots.opened.to->name, slots.planned.tree);
  if (const auto why = what_differs(slots.agreed.identity, slots.identity)) throw refuse(*why);
  if (boxes_of(slots.planned) != slots.agreed.boxes) throw refuse("here it would come out otherwise");
  slots.identity.started_s = slots.agreed.identity.started_s;
  return slots;
}

RechunkReport make_slots(const RechunkRequest& request, const RechunkObserver& observer) {
  RechunkReport report;
  const OpenedRequest opened = open_request(request, report);
  const FormatRow& to = *opened.to;
  if (to.resume == nullptr || (to.is_directory && !makes_directory(to, request.target)))
    throw Error(Code::unsupported, "--plan-only: several processes cannot write one zip file",
                "name a directory, and pack it afterwards");
  const SlotFolder folder(request.target);
  const std::optional<SlotPlan> earlier = folder.read_plan();
  // A plan that is there is compared as this process would make it up in a part of it.
  const bool same_memory = earlier &&
                           (request.memory_bytes == 0 || request.memory_bytes == earlier->memory.memory_bytes) &&
                           (request.n_threads == 0 || request.n_threads == earlier->memory.n_threads);
  const PlannedRewrite planned =
      plan_rewrite(request, opened, observer, same_memory ? std::optional(earlier->memory) : std::nullopt, report);
  const TargetKind kind = to.is_directory ? TargetKind::directory : TargetKind::file;
  StagedTarget(request.target, kind, request.overwrite, folder.target_path()).keep();  // can it have this name?
  SlotPlan plan;
  plan.request = request;
  plan.request.to = to.name;
  plan.memory = {planned.plan.memory_bytes, planned.plan.base_bytes, planned.n_threads_asked};
  plan.identity = identify(request.source, opened.reader->tree(), to.name, planned.tree);
  plan.boxes = boxes_of(planned);
  report.slots = RechunkReport::Slots{RechunkReport::Slots::Step::plan, 0, 0, false, folder.path()};
  if (earlier) {
    const auto why = what_differs(earlier->identity, plan.identity);
    if (why || !same_memory || earlier->boxes != plan.boxes)
      throw Error(Code::exists,
                  fmt::format("there is another plan for '{}': {}", request.target,
                              why.value_or("it was made for another --memory, -j or machine")),
                  fmt::format("finish it, or remove '{}'", folder.path()));
    report.slots->was_complete = true;
    return report;
  }
  folder.make();
  try {
    if (to.is_directory) {
      std::filesystem::create_directory(folder.target_path());
      to.create(folder.target_path(), planned.tree);
    }
    folder.write_plan(plan);
  } catch (...) {
    folder.remove();
    throw;
  }
  return report;
}

/// The journal of a part, held; made if there is none yet. Throws Error{exists} while another process holds it.
std::unique_ptr<Journal> journal_of_part(const Slots& slots, const Share& part) {
  const std::string path = slots.folder.journal_path(part);
  const std::string temporary =
      std::filesystem::path(slots.makes_directory() ? slots.folder.target_path() : slots.folder.piece_path(part))
          .filename()
          .string();
  if (std::filesystem::exists(path)) {
    std::unique_ptr<Journal> journal = Journal::open(path);
    if (journal == nullptr)
      throw Error(Code::exists, fmt::format("another process is at work on part {} of {}", part.number, part.count),
                  "wait for it, or end it");
    if (!journal->is_empty()) {
      if (const auto why = what_differs(journal->identity(), slots.identity))
        throw Error(Code::unsupported, fmt::format("part {} was begun otherwise: {}", part.number, *why),
                    fmt::format("remove '{}'", path));
      if (node_of(slots.folder.path() + "/" + temporary) == journal->identity().temporary_node) return journal;
      throw Error(Code::unsupported,
                  fmt::format("part {} wrote into '{}', which is another one now", part.number, temporary),
                  fmt::format("remove '{}', and the part begins anew", path));
    }
    journal->remove();
  }
  WorkIdentity identity = slots.identity;
  identity.temporary = temporary;
  return std::make_unique<Journal>(path, std::move(identity));
}

ProgressSink phase_of(const RechunkObserver& observer, const char* name) {
  if (!observer.progress) return {};
  return [&observer, name](const Progress& progress) { observer.progress(name, progress); };
}

RechunkReport run_part(const RechunkRequest& asked, const RechunkObserver& observer, const std::stop_token& stop) {
  const Clock::time_point begin = Clock::now();
  RechunkReport report;
  const Share part{asked.part, asked.n_parts};
  const Slots slots = take_up(asked, observer, report);
  if (const auto count = slots.folder.n_parts(); count && *count != part.count)
    throw Error(
        Code::usage, fmt::format("parts of this plan are one of {}, not one of {}", *count, part.count),
        fmt::format("say --part {}/{}, or remove '{}' and plan anew", part.number, *count, slots.folder.path()));
  report.slots =
      RechunkReport::Slots{RechunkReport::Slots::Step::part, part.number, part.count, false, slots.folder.path()};
  const std::unique_ptr<Journal> journal = journal_of_part(slots, part);
  if (journal->is_complete()) {
    report.slots->was_complete = true;
    return report;
  }
  const FormatRow& to = *slots.opened.to;
  const PlannedRewrite& planned = slots.planned;
  const Plan plan = only_shared(planned.plan, planned.targets);
  DoneChunks done(planned.targets, chunks_of_others(planned.plan, planned.targets, part));
  EarlierWork earlier;
  earlier.was_done = [&done](std::size_t array, ChunkId id) { return done.was_done(array, id); };
  earlier.for_each_state = [](const std::function<void(ByteView)>&) {};
  earlier.shares_target = slots.makes_directory();
  if (journal->has_checkpoint()) {
    journal->restore(done);
    report.resumed = {0, done.n_done_before(), done.bytes_done_before()};
    earlier.for_each_state = [&journal](const std::function<void(ByteView)>& use) { journal->for_each_state(use); };
  }
  std::unique_ptr<Writer> writer;
  if (slots.makes_directory()) {
    writer = to.resume(slots.folder.target_path(), planned.tree, earlier);
  } else if (journal->has_checkpoint()) {
    writer = to.resume(slots.folder.piece_path(part), planned.tree, earlier);
  } else {
    std::filesystem::remove(slots.folder.piece_path(part));
    writer = to.create(slots.folder.piece_path(part), planned.tree);
  }
  const std::uint64_t share_bytes = total_bytes(plan) - std::min(total_bytes(plan), done.bytes_of_others());
  try {
    run_with_checkpoints(
        *writer, done, *journal, share_bytes, LastCheckpoint::always, stop, [&](std::stop_token either) {
          const ExecuteResult result = execute(plan, *slots.opened.reader, planned.sources, *writer, planned.targets,
                                               done, phase_of(observer, "rewriting"), std::move(either));
          report.totals = result.totals;
          if (report.resumed) report.resumed->n_tiles = result.n_tiles_skipped;
        });
    if (!slots.makes_directory()) writer->finish();
    writer.reset();
    journal->append_end();
  } catch (const Error& e) {
    if (e.code() != Code::interrupted) throw;
    throw Error(Code::interrupted,
                fmt::format("of part {} of {}, {:.0f} % is done and kept", part.number, part.count,
                            100 * journal->fraction_done()),
                "the same command goes on");
  }
  report.seconds = report.rewrite_seconds = seconds_since(begin);
  report.peak_rss_bytes = peak_resident_bytes();
  return report;
}

/// The journals of all parts, held, so that nobody changes anything meanwhile.
std::vector<std::unique_ptr<Journal>> journals_of_all(const Slots& slots, int n_parts) {
  std::vector<std::unique_ptr<Journal>> journals;
  std::vector<std::string> missing;
  std::string first;
  for (int number = 1; number <= n_parts; ++number) {
    const Share part{number, n_parts};
    if (!std::filesystem::exists(slots.folder.journal_path(part))) {
      missing.push_back(fmt::format("{}/{}", number, n_parts));
    } else {
      journals.push_back(journal_of_part(slots, part));
      if (journals.back()->is_complete()) continue;
      missing.push_back(fmt::format("{}/{} ({:.0f} % done)", number, n_parts, 100 * journals.back()->fraction_done()));
    }
    if (first.empty()) first = fmt::format("{}/{}", number, n_parts);
  }
  if (missing.empty()) return journals;
  constexpr std::size_t kMostNamed = 20;
  const std::size_t n_named = std::min(missing.size(), kMostNamed);
  const std::string more =
      missing.size() > n_named ? fmt::format(" and {} more", missing.size() - n_named) : std::string();
  throw Error(
      Code::not_found,
      fmt::format("not all parts are complete: {} of {} missing: {}{}", missing.size(), n_parts,
                  fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(n_named), ", "), more),
      fmt::format("run rechunk --part {} SRC DST, and so on, then --finish again", first));
}

/// Puts the pieces of a file together: each chunk as its part has encoded it.
void copy_pieces(const Slots& slots, int n_parts, Writer& writer, const RechunkObserver& observer,
                 const std::stop_token& stop, RechunkReport& report) {
  const PlannedRewrite& planned = slots.planned;
  Plan plan = only_shared(planned.plan, planned.targets);
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    ArrayPlan& array = plan.arrays[i];
    if (array.kind == ArrayPlan::Kind::nothing) continue;
    array.kind = ArrayPlan::Kind::copy_chunks;
    array.source_chunk = array.tile = planned.targets[i].chunk;
    array.block = planned.targets[i].shape;
    for (Index& length : array.block) length = std::max<Index>(length, 1);
  }
  const std::uint64_t all_bytes = total_bytes(plan);
  std::uint64_t bytes_before = 0;
  const Clock::time_point begin = Clock::now();
  for (int number = 1; number <= n_parts; ++number) {
    const Share part{number, n_parts};
    const std::unique_ptr<Reader> piece = slots.opened.to->open(slots.folder.piece_path(part));
    DoneChunks done(planned.targets, chunks_of_others(planned.plan, planned.targets, part));
    ProgressSink progress;
    if (observer.progress)
      progress = [&](const Progress& of_part) {
        observer.progress("joining", {bytes_before + of_part.done_bytes, all_bytes, seconds_since(begin),
                                      of_part.stages, of_part.n_threads, 0, 0});
      };
    report.totals += execute(plan, *piece, planned.targets, writer, planned.targets, done, progress, stop).totals;
    bytes_before += all_bytes - std::min(all_bytes, done.bytes_of_others());
  }
}

void require_all_chunks(const PlannedRewrite& planned, const DoneChunks& done) {
  for (std::size_t i = 0; i < planned.targets.size(); ++i) {
    const ArrayPlan& array = planned.plan.arrays[i];
    if (is_shared(array, planned.targets[i]) && done.n_done_before(i) != array.n_target_chunks)
      throw Error(Code::corrupt, fmt::format("of {} the parts have made {} chunks of {}", array.path,
                                             done.n_done_before(i), array.n_target_chunks));
  }
}

RechunkReport finish_slots(const RechunkRequest& asked, const RechunkObserver& observer, const std::stop_token& stop) {
  const Clock::time_point begin = Clock::now();
  RechunkReport report;
  const Slots slots = take_up(asked, observer, report);
  const FormatRow& to = *slots.opened.to;
  const PlannedRewrite& planned = slots.planned;
  const TargetKind kind = slots.makes_directory() ? TargetKind::directory : TargetKind::file;
  const std::string path = slots.folder.target_path();
  StagedTarget(asked.target, kind, asked.overwrite, path).keep();  // can it have its name?
  const std::optional<int> n_parts = slots.folder.n_parts();
  if (!n_parts)
    throw Error(Code::not_found, "no part of the plan has been carried out",
                "run rechunk --part 1/N SRC DST, and so on");
  const std::vector<std::unique_ptr<Journal>> journals = journals_of_all(slots, *n_parts);
  if (const auto changed = changed_since(slots.agreed.identity))
    throw Error(Code::unsupported, fmt::format("'{}' of the source has changed since the plan was made", *changed),
                fmt::format("remove '{}' and plan anew", slots.folder.path()));
  report.slots = RechunkReport::Slots{RechunkReport::Slots::Step::finish, 0, *n_parts, false, slots.folder.path()};
  DoneChunks all(planned.targets);
  for (const auto& journal : journals) journal->restore(all);
  require_all_chunks(planned, all);

  std::vector<std::vector<ChunkProof>> proofs;
  {
    std::unique_ptr<Writer> writer;
    if (slots.makes_directory()) {
      EarlierWork earlier;
      earlier.for_each_state = [](const std::function<void(ByteView)>&) {};
      earlier.was_done = [&](std::size_t array, ChunkId) {
        return is_shared(planned.plan.arrays[array], planned.targets[array]);
      };
      writer = to.resume(path, planned.tree, earlier);
    } else {
      std::filesystem::remove(path);  // of a run that was cut off
      writer = to.create(path, planned.tree);
      copy_pieces(slots, *n_parts, *writer, observer, stop, report);
    }
    DoneChunks rest(planned.targets);
    ExecuteResult result = execute(without_shared(planned.plan, planned.targets), *slots.opened.reader, planned.sources,
                                   *writer, planned.targets, rest, phase_of(observer, "rewriting"), stop);
    writer->finish();
    report.totals += result.totals;
    report.losses.insert(report.losses.end(), result.losses.begin(), result.losses.end());
    proofs = std::move(result.proofs);
  }
  for (std::size_t i = 0; i < proofs.size(); ++i)
    proofs[i].insert(proofs[i].end(), all.earlier_proofs()[i].begin(), all.earlier_proofs()[i].end());
  report.rewrite_seconds = seconds_since(begin);
  give_back_freed_memory();

  if (asked.verify != VerifyMode::none) {
    try {
      forget_cached(path);
      const std::unique_ptr<Reader> written = to.open(path);
      report.verified = verify(asked.verify, planned.plan, *slots.opened.reader, planned.sources, *written,
                               planned.tree, std::move(proofs), phase_of(observer, "verifying"), stop);
    } catch (const Error& e) {
      if (e.code() == Code::interrupted || e.code() == Code::io) throw;  // io: a disk that fails proves nothing
      throw Error(Code::mismatch, fmt::format("verification failed: {}", e.what()),
                  fmt::format("the unfinished target is kept as {}", path));
    }
  }
  if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted", "the same command goes on");
  StagedTarget staged(asked.target, kind, asked.overwrite, path);
  try {
    staged.publish();
  } catch (...) {
    staged.keep();
    throw;
  }
  slots.folder.remove();
  report.seconds = seconds_since(begin);
  report.peak_rss_bytes = peak_resident_bytes();
  return report;
}

}  // namespace

RechunkReport rechunk_step(const RechunkRequest& request, const RechunkObserver& observer,
                           const std::stop_token& stop) {
  switch (request.step) {
    case RechunkStep::plan:
      return make_slots(request, observer);
    case RechunkStep::part:
      return run_part(request, observer, stop);
    case RechunkStep::finish:
      return finish_slots(request, observer, stop);
    case RechunkStep::all:
      break;
  }
  throw Error(Code::internal, "a rewrite in one step is none of several");
}

}  // namespace chunkwise
