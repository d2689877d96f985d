#include "app/rechunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "app/predict.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "base/sizes.h"
#include "base/suggest.h"
#include "format/registry.h"
#include "rechunk/layout.h"
#include "rechunk/select.h"
#include "store/staged.h"

namespace chunkwise {
namespace {

/// What libraries and the allocator will still take once work starts: thread pools, metadata caches, indexes.
constexpr std::uint64_t kLibraries_bytes = 5u << 20;
/// Addresses of source chunks and the index the target's library builds.
constexpr std::uint64_t kBytesPerChunk = 64;

const FormatRow& target_format(const RechunkRequest& request, const FormatRow& from) {
  if (!request.to.empty()) {
    const FormatRow* row = find_format(request.to);
    if (row != nullptr && row->create != nullptr) return *row;
    std::vector<std::string> known;
    for (const FormatRow& format : format_rows())
      if (format.create != nullptr) known.emplace_back(format.name);
    throw Error(Code::usage, fmt::format("cannot write format '{}'", request.to), suggest(request.to, known));
  }
  const FormatRow* by_suffix = format_by_suffix(request.target);
  if (by_suffix == nullptr) return from;
  // ".zarr" stands for both versions: a source that is one of them keeps its version.
  return from.is_directory && by_suffix->is_directory ? from : *by_suffix;
}

void refuse_same_place(const RechunkRequest& request) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path source = fs::weakly_canonical(request.source, error);
  const fs::path target = fs::weakly_canonical(request.target, error);
  if (error) return;
  const auto [end, unused] = std::mismatch(source.begin(), source.end(), target.begin(), target.end());
  if (end == source.end())
    throw Error(Code::usage, fmt::format("the target {} is the source, or lies inside it", request.target),
                "choose another target; the source is never changed");
}

/// Variables nobody can rewrite yet, and objects outside the model: refused by name, before anything is written.
void refuse_unsupported(const Hierarchy& tree) {
  std::vector<std::string> reasons;
  for (const ArrayNode& node : tree.arrays)
    if (!node.meta.unsupported.empty()) reasons.push_back(fmt::format("{}: {}", node.meta.path, node.meta.unsupported));
  for (const UnsupportedNode& node : tree.unsupported) reasons.push_back(fmt::format("{}: {}", node.path, node.what));
  if (reasons.empty()) return;
  const std::size_t n_more = reasons.size() - 1;
  throw Error(Code::unsupported, n_more == 0 ? reasons[0] : fmt::format("{} (and {} more)", reasons[0], n_more),
              "leave it out with --exclude, or name what you want with --variable");
}

void refuse_losses(const std::vector<Loss>& losses) {
  std::string list;
  for (const Loss& loss : losses) list += fmt::format("\n  {}: {}", loss.object, loss.what);
  throw Error(Code::unsupported,
              fmt::format("the target cannot keep {} of the source:{}",
                          losses.size() == 1 ? "one thing" : fmt::format("{} things", losses.size()), list),
              "leave the variables out with --exclude, or accept the loss with --allow-loss");
}

std::uint64_t planned_base_bytes(const std::vector<PlanInput>& inputs) {
  std::uint64_t most_chunks = 0;
  for (const PlanInput& input : inputs)
    most_chunks = std::max(most_chunks, static_cast<std::uint64_t>(input.source->n_stored_chunks));
  return resident_bytes() + kLibraries_bytes + kBytesPerChunk * most_chunks;
}

}  // namespace

RechunkReport rechunk(const RechunkRequest& request, const RechunkObserver& observer, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  RechunkReport report;
  report.source = request.source;
  report.target = request.target;
  report.dry_run = request.dry_run;
  refuse_same_place(request);

  // 1. The request's own words, before any file is touched.
  LayoutRequest layout;
  for (const std::string& text : request.chunks) layout.chunks.push_back(parse_chunk_spec(text));
  for (const std::string& text : request.codecs) layout.codecs.push_back(parse_codec_request(text));
  layout.advise = request.advise;

  // 2. Open the source and keep the variables asked for.
  const FormatRow& from = detect_format(request.source);
  const std::unique_ptr<Reader> reader = from.open(request.source);
  const FormatRow& from_actual = find_format(reader->tree().format) ? *find_format(reader->tree().format) : from;
  const FormatRow& to = target_format(request, from_actual);
  report.from_format = reader->tree().format;
  report.to_format = to.name;
  Hierarchy tree = reader->tree();
  select_variables(tree, request.variables, request.exclude);

  // 3. Nothing may be lost without a word.
  refuse_unsupported(tree);
  std::map<std::string, ArrayMeta> source_of;
  for (const ArrayNode& node : tree.arrays) source_of[node.meta.path] = node.meta;
  AdaptReport adapted;
  to.adapt(tree, adapted);
  report.losses = adapted.losses;
  if (!adapted.losses.empty() && !request.allow_loss) refuse_losses(adapted.losses);

  // 4. The target's layout: as adapted, then as asked.
  report.notes = std::move(adapted.notes);
  apply_layout(layout, tree, report.notes);
  to.check(tree);
  if (observer.log)
    for (const std::string& note : report.notes) observer.log(LogLevel::info, note);

  // 5. The plan, within the memory.
  std::vector<ArrayMeta> sources;
  std::vector<ArrayMeta> targets;
  for (const ArrayNode& node : tree.arrays) {
    sources.push_back(source_of.at(node.meta.path));
    targets.push_back(node.meta);
  }
  std::vector<PlanInput> inputs;
  for (std::size_t i = 0; i < targets.size(); ++i) inputs.push_back({&sources[i], &targets[i]});
  PlanRequest plan_request;
  plan_request.memory_bytes = request.memory_bytes != 0 ? request.memory_bytes : available_memory_bytes() / 2;
  plan_request.base_bytes = planned_base_bytes(inputs);
  plan_request.n_threads =
      request.n_threads > 0 ? request.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const Plan plan = make_plan(inputs, plan_request);
  for (std::size_t i = 0; i < targets.size(); ++i) report.variables.push_back({sources[i], targets[i], plan.arrays[i]});
  report.plan = plan;
  report.plan.arrays.clear();
  report.predicted_seconds = predict_seconds(report);
  if (request.dry_run) return report;

  // 6. Write under a temporary name.
  const auto phase = [&observer](const char* name) -> ProgressSink {
    if (!observer.progress) return {};
    return [&observer, name](const Progress& progress) { observer.progress(name, progress); };
  };
  StagedTarget staged(request.target, to.is_directory ? TargetKind::directory : TargetKind::file, request.overwrite);
  ExecuteResult result;
  {
    const std::unique_ptr<Writer> writer = to.create(staged.path(), tree);
    result = execute(plan, *reader, sources, *writer, targets, phase("rewriting"), stop);
    writer->finish();
  }
  report.totals = result.totals;
  report.rewrite_seconds = elapsed();

  // 7. Read it back; only then does it get its name.
  if (request.verify != VerifyMode::none) {
    try {
      const std::unique_ptr<Reader> written = to.open(staged.path());
      report.verified =
          verify(request.verify, plan, *reader, sources, *written, tree, result.proofs, phase("verifying"), stop);
    } catch (Error& e) {
      if (e.code() == Code::interrupted) throw;
      throw Error(Code::mismatch, fmt::format("verification failed: {}", e.what()),
                  fmt::format("the unfinished target is kept as {}", staged.keep()));
    }
  }
  if (stop.stop_requested()) throw Error(Code::interrupted, "interrupted");
  staged.publish();
  report.seconds = elapsed();
  report.peak_rss_bytes = peak_resident_bytes();
  return report;
}

}  // namespace chunkwise
