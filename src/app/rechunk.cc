#include "app/rechunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "app/copy_as_is.h"
#include "app/predict.h"
#include "app/resumable.h"
#include "app/scratch_space.h"
#include "array/shard_source.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "base/sizes.h"
#include "base/suggest.h"
#include "format/registry.h"
#include "rechunk/layout.h"
#include "rechunk/limits.h"
#include "rechunk/select.h"
#include "store/device_rate.h"
#include "store/open_store.h"
#include "store/staged.h"

namespace chunkwise {
namespace {

/// What libraries and the allocator will still take once work starts: thread pools, metadata caches, indexes.
constexpr std::uint64_t kLibraries_bytes = 4u << 20;
/// And the library of a source that is a file, which has hardly been used by then: its code and its metadata cache.
constexpr std::uint64_t kSourceLibrary_bytes = 13u << 20;
/// A source chunk's address; a target chunk's place in the index that HDF5 builds, whose cache it bounds.
constexpr std::uint64_t kBytesPerLocated = 32;
constexpr std::uint64_t kBytesPerIndexed = 640;
constexpr std::uint64_t kMostIndex_bytes = 32u << 20;
/// A target chunk that is done and not yet in the journal; a checkpoint comes when there are so many.
constexpr std::uint64_t kBytesPerDone = 64;
constexpr std::uint64_t kMostDone = 64u << 10;
/// An entry of a zip file's directory without its key; what a key has besides the array's path.
constexpr std::uint64_t kBytesPerZipEntry = 48;
constexpr std::uint64_t kKeyBytes = 24;
/// The metadata of an object while the target is made; a byte of an attribute as JSON, text and tree, or in HDF5's
/// cache.
constexpr std::uint64_t kFileArray_bytes = 48u << 10;
constexpr std::uint64_t kDirectoryArray_bytes = 40u << 10;
constexpr std::uint64_t kGroup_bytes = 12u << 10;
constexpr std::uint64_t kJsonFactor = 10;
constexpr std::uint64_t kFileFactor = 2;

/// True if chunks or codecs are asked for, of whatever variable.
bool asks_for_chunks(const LayoutRequest& layout) {
  const auto is_chunked = [](const ChunkSpec& spec) {
    return spec.kind != ChunkSpec::Kind::keep && spec.kind != ChunkSpec::Kind::contiguous;
  };
  const auto has_codecs = [](const CodecRequest& request) { return request.codecs && !request.codecs->empty(); };
  return std::any_of(layout.chunks.begin(), layout.chunks.end(), is_chunked) ||
         std::any_of(layout.codecs.begin(), layout.codecs.end(), has_codecs);
}

const FormatRow& target_format(const RechunkRequest& request, const LayoutRequest& layout, const FormatRow& from,
                               std::vector<std::string>& notes) {
  if (!request.to.empty()) {
    const FormatRow* row = find_format(request.to);
    if (row != nullptr && row->create != nullptr) return *row;
    std::vector<std::string> known;
    for (const FormatRow& format : format_rows())
      if (format.create != nullptr) known.emplace_back(format.name);
    throw Error(Code::usage, fmt::format("cannot write format '{}'", request.to), suggest(request.to, known));
  }
  const FormatRow* by_suffix = format_by_suffix(request.target);
  if (by_suffix == nullptr || has_suffix_of(from, request.target)) {
    const bool names_it = by_suffix == &from;
    if (names_it || from.chunked_kin.empty() || !asks_for_chunks(layout)) return from;
    const FormatRow& kin = *find_format(from.chunked_kin);
    notes.push_back(fmt::format("{} cannot be chunked, writing {}", from.summary, kin.summary));
    return kin;
  }
  // ".zarr" and ".zip" stand for both versions: a source that is one of them keeps its version.
  std::filesystem::path target = request.target;
  if (!target.has_filename()) target = target.parent_path();
  if (has_zip_name(request.target)) target = target.stem();
  const bool names_version = target.extension() == ".zarr2" || target.extension() == ".zarr3";
  return from.is_directory && by_suffix->is_directory && !names_version ? from : *by_suffix;
}

void refuse_same_place(const RechunkRequest& request) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path source = fs::weakly_canonical(request.source, error);
  fs::path target = fs::weakly_canonical(request.target, error);
  for (fs::path* path : {&source, &target})
    if (!path->has_filename()) *path = path->parent_path();  // a trailing slash
  if (error) return;
  // One path is the start of the other: the target would change the source, or replace the folder it lies in.
  const auto [source_rest, target_rest] = std::mismatch(source.begin(), source.end(), target.begin(), target.end());
  if (source_rest == source.end() || target_rest == target.end())
    throw Error(Code::usage,
                fmt::format("the target {} {} the source", request.target,
                            source_rest != source.end()   ? "contains"
                            : target_rest == target.end() ? "is"
                                                          : "lies inside"),
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

void refuse_foreign_shards(const LayoutRequest& layout, const FormatRow& to) {
  if (to.has_shards) return;
  for (const ChunkSpec& spec : layout.shards)
    if (spec.kind != ChunkSpec::Kind::none && spec.kind != ChunkSpec::Kind::keep)
      throw Error(Code::usage, fmt::format("--shards {}: {} has no shards", spec.text, to.summary),
                  "write Zarr v3 with --to zarr3, or leave --shards out");
}

/// Shards are a matter of how chunks are stored: without them nothing of the data is lost.
void leave_out_shards(Hierarchy& tree, const FormatRow& to, std::vector<std::string>& notes) {
  for (ArrayNode& node : tree.arrays) {
    if (node.meta.shards.empty()) continue;
    notes.push_back(fmt::format("{}: {} has no shards: those of {} are left out, the chunks of {} stay", node.meta.path,
                                to.summary, to_string(node.meta.unit()), to_string(node.meta.chunk)));
    node.meta.shards.clear();
  }
}

void refuse_losses(const std::vector<Loss>& losses) {
  std::string list;
  for (const Loss& loss : losses) list += fmt::format("\n  {}: {}", loss.object, loss.what);
  throw Error(Code::unsupported,
              fmt::format("the target cannot keep {} of the source:{}",
                          losses.size() == 1 ? "one thing" : fmt::format("{} things", losses.size()), list),
              "leave the variables out with --exclude, or accept the loss with --allow-loss");
}

std::uint64_t attribute_bytes(const std::vector<Attribute>& attributes) {
  std::uint64_t bytes = 0;
  for (const Attribute& attribute : attributes) {
    bytes += attribute.value.data.size() + attribute.value.json.size();
    for (const std::string& text : attribute.value.texts) bytes += text.size();
  }
  return bytes;
}

/// What the process will hold besides buffers: what it holds now, the libraries, the index of the source's chunks, and
/// the target's metadata while it is made. The factors are measured, on files of thousands of objects and of large
/// attributes.
std::uint64_t planned_base_bytes(const std::vector<PlanInput>& inputs, const Hierarchy& tree, bool from_directory,
                                 bool to_directory) {
  std::uint64_t n_source = 0;
  std::uint64_t n_target = 0;
  for (const PlanInput& input : inputs) {
    const auto n_stored = static_cast<std::uint64_t>(input.source->n_stored_chunks);
    n_source = std::max(n_source, n_stored);
    if (n_stored > 0) n_target = std::max(n_target, static_cast<std::uint64_t>(input.target->grid().n_chunks()));
  }
  std::uint64_t shard_indexes = 0;
  for (const PlanInput& input : inputs)
    shard_indexes = std::max(shard_indexes, ShardSource::most_index_bytes(*input.source));
  std::uint64_t attributes = 0;
  for (const GroupNode& group : tree.groups) attributes += attribute_bytes(group.attributes);
  for (const ArrayNode& array : tree.arrays) attributes += attribute_bytes(array.attributes);
  const std::uint64_t index = to_directory ? 0 : std::min<std::uint64_t>(kBytesPerIndexed * n_target, kMostIndex_bytes);
  const std::uint64_t journal = kBytesPerDone * std::min(n_target, kMostDone) + n_target / 8;
  return resident_bytes() + kLibraries_bytes + (from_directory ? 0 : kSourceLibrary_bytes) +
         kBytesPerLocated * n_source + index + journal + shard_indexes +
         (to_directory ? kDirectoryArray_bytes : kFileArray_bytes) * tree.arrays.size() +
         kGroup_bytes * tree.groups.size() + (to_directory ? kJsonFactor : kFileFactor) * attributes;
}

/// The directory of a zip file, which is written last.
std::uint64_t zip_directory_bytes(const std::vector<PlanInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const PlanInput& input : inputs) {
    if (input.source->n_stored_chunks == 0) continue;
    const auto n_objects = ChunkGrid(input.target->shape, input.target->unit()).n_chunks();
    bytes += static_cast<std::uint64_t>(n_objects) * (kBytesPerZipEntry + kKeyBytes + input.target->path.size());
  }
  return bytes;
}

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
  report.source = request.source;
  report.target = request.target;
  report.dry_run = request.dry_run;
  if (request.source.empty() || request.target.empty())
    throw Error(Code::usage, fmt::format("{} is empty", request.source.empty() ? "SRC" : "DST"),
                "name a file or a directory");
  refuse_same_place(request);

  // 1. The request's own words, before any file is touched.
  LayoutRequest layout;
  for (const std::string& text : request.chunks) layout.chunks.push_back(parse_chunk_spec(text));
  for (const std::string& text : request.shards) layout.shards.push_back(parse_shard_spec(text));
  for (const std::string& text : request.codecs) layout.codecs.push_back(parse_codec_request(text));

  // 2. Open the source and keep the variables asked for.
  const FormatRow& from = detect_format(request.source);
  const std::unique_ptr<Reader> reader = from.open(request.source);
  const FormatRow& from_actual = find_format(reader->tree().format) ? *find_format(reader->tree().format) : from;
  const FormatRow& to = target_format(request, layout, from_actual, report.notes);
  if (request.advise) layout.advise = [&](const ArrayMeta& meta) { return request.advise(meta, to.is_directory); };
  refuse_foreign_shards(layout, to);
  report.from_format = reader->tree().format;
  report.to_format = to.name;
  if (request.resume && to.is_directory && !makes_directory(to, request.target))
    throw Error(Code::unsupported, "--resume: a zip file cannot be continued once its writing was interrupted",
                "leave --resume out, or write a directory and pack it afterwards");
  if (changes_nothing(request, reader->tree(), to)) {
    copy_as_is(request, reader->tree(), observer, stop, report);
    if (request.stats && !request.dry_run) measure_devices(request, report);
    return report;
  }
  // Another format may have to know whether chunks are missing.
  if (reader->tree().format != to.name) reader->count_exactly();
  Hierarchy tree = reader->tree();
  select_variables(tree, request.variables, request.exclude);

  // 3. Nothing may be lost without a word.
  std::map<std::string, ArrayMeta> source_of;
  for (const ArrayNode& node : tree.arrays) source_of[node.meta.path] = node.meta;
  AdaptReport adapted;
  to.adapt(tree, adapted);
  if (!to.has_shards) leave_out_shards(tree, to, adapted.notes);
  report.losses = adapted.losses;
  report.notes.insert(report.notes.end(), adapted.notes.begin(), adapted.notes.end());
  // Told before a refusal too: all that the target means for the source is then seen at once.
  if (observer.log)
    for (const std::string& note : report.notes) observer.log(LogLevel::info, note);
  if (!adapted.losses.empty() && !request.allow_loss) refuse_losses(adapted.losses);
  refuse_unsupported(tree);  // what the target could hold, but nobody can move

  // 4. The target's layout: as adapted, then as asked.
  std::vector<std::string> layout_notes;
  apply_layout(layout, tree, layout_notes);
  to.check(tree);
  for (const ArrayNode& node : tree.arrays)
    if (node.meta.storage != Storage::virtual_) reader->find_elements(node.meta.path);
  if (observer.log)
    for (const std::string& note : layout_notes) observer.log(LogLevel::info, note);
  report.notes.insert(report.notes.end(), layout_notes.begin(), layout_notes.end());

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
  plan_request.base_bytes = planned_base_bytes(inputs, tree, from.is_directory, to.is_directory);
  if (to.is_directory && !makes_directory(to, request.target)) plan_request.base_bytes += zip_directory_bytes(inputs);
  plan_request.n_threads =
      request.n_threads > 0 ? request.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  plan_request.allows_loss = request.allow_loss;
  plan_request.scratch = scratch_space(request, inputs);
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
  ResumableWork work(request, to, identify(request.source, reader->tree(), to.name, tree), targets, observer.log);
  report.resumed = work.resumed();
  try {
    ExecuteResult result;
    {
      const std::unique_ptr<Writer> writer = work.open_writer(tree);
      work.run(*writer, total_bytes(plan), stop, [&](std::stop_token either) {
        try {
          result =
              execute(plan, *reader, sources, *writer, targets, work.done(), phase("rewriting"), std::move(either));
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
        const std::unique_ptr<Reader> written = to.open(work.path());
        report.verified =
            verify(request.verify, plan, *reader, sources, *written, tree, result.proofs, phase("verifying"), stop);
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
