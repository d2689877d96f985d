#include "app/copy_as_is.h"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "base/sizes.h"
#include "store/copy_file.h"
#include "store/staged.h"

namespace chunkwise {
namespace {

ArrayPlan plan_of(const ArrayMeta& meta) {
  ArrayPlan plan;
  plan.path = meta.path;
  plan.kind = meta.n_stored_chunks == 0 ? ArrayPlan::Kind::nothing : ArrayPlan::Kind::copy_chunks;
  plan.n_target_chunks = meta.grid().n_chunks();
  plan.n_source_reads = meta.n_stored_chunks;
  plan.n_tiles = meta.n_stored_chunks;
  plan.source_chunk = plan.tile = meta.chunk;
  plan.read_bytes = meta.stored_bytes;
  return plan;
}

Index n_stored_chunks(const Hierarchy& tree) {
  Index n = 0;
  for (const ArrayNode& node : tree.arrays) n += node.meta.n_stored_chunks;
  return n;
}

/// The promise holds for a copy too.
void require_memory(std::uint64_t memory_bytes) {
  constexpr std::uint64_t kMiB = 1u << 20;
  constexpr std::uint64_t kBuffers_bytes = 12 * kMiB;
  const std::uint64_t least_bytes = resident_bytes() + kBuffers_bytes;
  if (memory_bytes == 0 || memory_bytes >= least_bytes) return;
  throw Error(Code::budget,
              fmt::format("does not fit into --memory {}: the process needs {}", format_bytes(memory_bytes),
                          format_bytes(least_bytes)),
              fmt::format("the least that works is --memory {}MiB", least_bytes / kMiB + 1));
}

}  // namespace

bool changes_nothing(const RechunkRequest& request, const Hierarchy& source, const FormatRow& to) {
  return request.chunks.empty() && request.shards.empty() && request.codecs.empty() && request.variables.empty() &&
         request.exclude.empty() && source.format == to.name && !to.is_directory && source.is_self_contained;
}

void copy_as_is(const RechunkRequest& request, const Hierarchy& source, const RechunkObserver& observer,
                const std::stop_token& stop, RechunkReport& report) {
  const Clock::time_point begin = Clock::now();
  report.copied_as_is = true;
  for (const ArrayNode& node : source.arrays) report.variables.push_back({node.meta, node.meta, plan_of(node.meta)});
  require_memory(request.memory_bytes);
  if (request.dry_run) return;
  if (request.resume && observer.log)
    observer.log(LogLevel::info, "nothing changes: a copy begins anew, there is nothing to resume");

  if (observer.log)
    for (const UnfinishedTarget& found : unfinished_targets(request.target))
      observer.log(LogLevel::warning,
                   fmt::format("an earlier run left '{}' unfinished; remove it if no run is at work on it",
                               found.is_there ? found.path : found.journal));
  StagedTarget staged(request.target, TargetKind::file, request.overwrite);
  struct stat status {};
  const auto total_bytes =
      ::stat(request.source.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  const auto progress_of = [&](const char* phase, Clock::time_point since) {
    return [&observer, phase, since, total_bytes](std::uint64_t done_bytes) {
      if (observer.progress) observer.progress(phase, {done_bytes, total_bytes, seconds_since(since), {}, 0, 0, 0});
    };
  };
  report.totals.read_bytes = report.totals.written_bytes =
      copy_file(request.source, staged.path(), progress_of("copying", begin), stop);
  report.totals.n_chunks_read = report.totals.n_chunks_written = n_stored_chunks(source);
  report.rewrite_seconds = report.totals.write_s = seconds_since(begin);

  if (request.verify != VerifyMode::none) {
    const Clock::time_point verifying = Clock::now();
    const bool full = request.verify == VerifyMode::full;
    try {
      report.verified.bytes =
          compare_files(request.source, staged.path(), full, progress_of("verifying", verifying), stop);
    } catch (Error& error) {
      if (error.code() != Code::mismatch) throw;
      throw Error(Code::mismatch, fmt::format("verification failed: {}", error.message()),
                  fmt::format("the unfinished target is kept as {}", staged.keep()));
    }
    report.verified.mode = request.verify;
    report.verified.seconds = seconds_since(verifying);
  }
  if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted");
  staged.publish();
  report.seconds = seconds_since(begin);
  report.peak_rss_bytes = peak_resident_bytes();
}

}  // namespace chunkwise
