#include "app/rechunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/copy_as_is.h"
#include "app/prepare.h"
#include "app/resumable.h"
#include "app/slots.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "format/registry.h"
#include "rechunk/limits.h"
#include "store/device_rate.h"
#include "store/forget_cached.h"

namespace chunkwise {
namespace {

std::uint64_t total_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const ArrayPlan& array : plan.arrays) bytes += array.decoded_bytes;
  return bytes;
}

/// What the devices would take at least. After the fact, so that measuring takes nothing from the run.
void measure_devices(const RechunkRequest& request, RechunkReport& report) {
  Limits& limits = report.limits ? *report.limits : report.limits.emplace();
  const DeviceRate reading = measure_read_rate(request.source);
  const std::filesystem::path folder = std::filesystem::path(request.target).parent_path();
  const DeviceRate writing = measure_write_rate(folder.empty() ? "." : folder.string());
  limits.read_bytes_per_s = reading.bytes_per_s;
  limits.write_bytes_per_s = writing.bytes_per_s;
  limits.read_cpu_s_per_byte = reading.cpu_s_per_byte;
  limits.write_cpu_s_per_byte = writing.cpu_s_per_byte;
  const auto n_read = static_cast<double>(report.totals.read_bytes + report.totals.scratch_read_bytes);
  const auto n_written = static_cast<double>(report.totals.written_bytes + report.totals.scratch_written_bytes);
  if (limits.read_bytes_per_s > 0) limits.read_s = n_read / limits.read_bytes_per_s;
  if (limits.write_bytes_per_s > 0) limits.write_s = n_written / limits.write_bytes_per_s;
  limits.transfer_s = (n_read * limits.read_cpu_s_per_byte + n_written * limits.write_cpu_s_per_byte) /
                      std::max(1, report.plan.n_threads);
}

}  // namespace

RechunkReport rechunk(const RechunkRequest& request, const RechunkObserver& observer, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  RechunkReport report;
  if (request.step != RechunkStep::all) return rechunk_step(request, observer, stop);

  // 1. and 2. The request's own words, and the source.
  const OpenedRequest opened = open_request(request, report);
  const std::unique_ptr<Reader>& reader = opened.reader;
  const FormatRow& to = *opened.to;
  if (request.resume && to.is_directory && !makes_directory(to, request.target))
    throw Error(Code::unsupported, "--resume: a zip file cannot be continued once its writing was interrupted",
                "leave --resume out, or write a directory and pack it afterwards");
  if (changes_nothing(request, reader->tree(), to)) {
    copy_as_is(request, reader->tree(), observer, stop, report);
    if (request.stats && !request.dry_run) measure_devices(request, report);
    return report;
  }

  // 3. to 5. What it shall become, without loss, and the plan, within the memory.
  const PlannedRewrite planned = plan_rewrite(request, opened, observer, std::nullopt, report);
  if (request.dry_run) return report;
  const Hierarchy& tree = planned.tree;
  const std::vector<ArrayMeta>& sources = planned.sources;
  const std::vector<ArrayMeta>& targets = planned.targets;
  const Plan& plan = planned.plan;

  // 6. Write under a temporary name.
  const auto phase = [&observer](const char* name) -> ProgressSink {
    if (!observer.progress) return {};
    return [&observer, name](const Progress& progress) { observer.progress(name, progress); };
  };
  const auto rewriting = [&](const Progress& progress) {
    Progress told = progress;
    told.expected_s = report.predicted_seconds;
    observer.progress("rewriting", told);
  };
  ResumableWork work(request, to, identify(request.source, reader->tree(), to.name, tree), targets, observer.log);
  report.resumed = work.resumed();
  try {
    ExecuteResult result;
    {
      const std::unique_ptr<Writer> writer = work.open_writer(tree);
      work.run(*writer, total_bytes(plan), stop, [&](std::stop_token either) {
        try {
          result = execute(plan, *reader, sources, *writer, targets, work.done(),
                           observer.progress ? ProgressSink(rewriting) : ProgressSink(), std::move(either));
        } catch (Error& error) {
          const bool names_source = error.where().find(request.source) != std::string::npos;
          if (error.code() == Code::corrupt && !names_source) throw error.in(request.source);
          throw;
        }
      });
      writer->finish();
    }
    report.totals = result.totals;
    report.losses.insert(report.losses.end(), result.losses.begin(), result.losses.end());
    if (report.resumed) report.resumed->n_tiles = result.n_tiles_skipped;
    report.rewrite_seconds = elapsed();

    // What threads of the rewrite have freed stays with the allocator, where verifying cannot use it.
    give_back_freed_memory();

    // 7. Read it back; only then does it get its name.
    if (request.verify != VerifyMode::none) {
      try {
        forget_cached(work.path());
        const std::unique_ptr<Reader> written = to.open(work.path());
        report.verified = verify(request.verify, plan, *reader, sources, *written, tree, std::move(result.proofs),
                                 phase("verifying"), stop);
      } catch (Error& e) {
        if (e.code() == Code::interrupted || e.code() == Code::io) throw;  // io: a disk that fails proves nothing
        throw Error(Code::mismatch, fmt::format("verification failed: {}", e.what()),
                    fmt::format("the unfinished target is kept as {}", work.keep_for_inspection()));
      }
    }
    if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted");
    work.publish();
  } catch (Error& e) {
    throw work.failed(std::move(e));
  }
  report.seconds = elapsed();
  reader->take_counts();
  for (RechunkReport::Variable& variable : report.variables) {
    const ArrayNode* const now = find_array(reader->tree(), variable.source.path);
    if (now != nullptr) variable.source = now->meta;
  }
  if (request.stats) {
    measure_codecs(plan, *reader, sources, *to.open(request.target), targets, report.limits.emplace());
    measure_devices(request, report);
  }
  report.peak_rss_bytes = peak_resident_bytes();
  return report;
}

}  // namespace chunkwise
