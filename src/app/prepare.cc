#include "app/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "app/disk_space.h"
#include "app/predict.h"
#include "app/scratch_space.h"
#include "array/shard_source.h"
#include "base/error.h"
#include "base/process_memory.h"
#include "base/sizes.h"
#include "base/suggest.h"
#include "rechunk/select.h"
#include "store/open_store.h"

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

/// A hash of every chunk, until the target is read back.
std::uint64_t proofs_bytes(const std::vector<PlanInput>& inputs) {
  std::uint64_t n_chunks = 0;
  for (const PlanInput& input : inputs) {
    const ArrayMeta& source = *input.source;
    const ArrayMeta& target = *input.target;
    const bool by_format = source.dtype.refers && target.dtype.refers;
    const bool same_fill =
        by_format ||
        (source.dtype.is_varying() ? source.fill == target.fill
                                   : fill_as(source, target) == fill_in_order(target, target.layout.byte_order));
    if (source.n_stored_chunks == 0 && same_fill) continue;  // nothing is written, however large it is
    n_chunks += static_cast<std::uint64_t>(target.grid().n_chunks());
  }
  constexpr std::uint64_t kGrowing = 2;  // while a list becomes longer
  return kGrowing * n_chunks * sizeof(ChunkProof);
}

/// What is planned for the process besides buffers, where several processes carry out one plan: the tiles follow from
/// it, so all of them must reckon with the same. None is of quite the same size as another.
std::uint64_t base_bytes_of_parts(std::uint64_t of_this, const std::optional<PlanMemory>& fixed) {
  constexpr std::uint64_t kUneven_bytes = 4u << 20;
  if (!fixed) return of_this + kUneven_bytes;
  if (of_this <= fixed->base_bytes) return fixed->base_bytes;
  throw Error(Code::budget,
              fmt::format("the plan reckons with {} for the process without buffers, here it needs {}",
                          format_bytes(fixed->base_bytes), format_bytes(of_this)),
              "make the plan on a machine like this one");
}

}  // namespace

OpenedRequest open_request(const RechunkRequest& request, RechunkReport& report) {
  report.source = request.source;
  report.target = request.target;
  report.dry_run = request.dry_run;
  if (request.source.empty() || request.target.empty())
    throw Error(Code::usage, fmt::format("{} is empty", request.source.empty() ? "SRC" : "DST"),
                "name a file or a directory");
  refuse_same_place(request);

  // 1. The request's own words, before any file is touched.
  OpenedRequest opened;
  for (const std::string& text : request.chunks) opened.layout.chunks.push_back(parse_chunk_spec(text));
  for (const std::string& text : request.shards) opened.layout.shards.push_back(parse_shard_spec(text));
  for (const std::string& text : request.codecs) opened.layout.codecs.push_back(parse_codec_request(text));

  // 2. Open the source.
  const FormatRow& from = detect_format(request.source);
  opened.from = &from;
  opened.reader = from.open(request.source);
  const std::string& format = opened.reader->tree().format;
  const FormatRow& from_actual = find_format(format) != nullptr ? *find_format(format) : from;
  opened.to = &target_format(request, opened.layout, from_actual, report.notes);
  if (request.advise)
    opened.layout.advise = [advise = request.advise, in_objects = opened.to->is_directory](const ArrayMeta& meta) {
      return advise(meta, in_objects);
    };
  refuse_foreign_shards(opened.layout, *opened.to);
  report.from_format = format;
  report.to_format = opened.to->name;
  return opened;
}

PlannedRewrite plan_rewrite(const RechunkRequest& request, const OpenedRequest& opened, const RechunkObserver& observer,
                            const std::optional<PlanMemory>& fixed, RechunkReport& report) {
  Reader& reader = *opened.reader;
  const FormatRow& to = *opened.to;
  PlannedRewrite planned;
  // Another format may have to know whether chunks are missing.
  if (reader.tree().format != to.name) reader.count_exactly();
  Hierarchy& tree = planned.tree;
  tree = reader.tree();
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
  apply_layout(opened.layout, tree, layout_notes);
  to.check(tree);
  for (const ArrayNode& node : tree.arrays)
    if (node.meta.storage != Storage::virtual_) reader.find_elements(node.meta.path);
  if (observer.log)
    for (const std::string& note : layout_notes) observer.log(LogLevel::info, note);
  report.notes.insert(report.notes.end(), layout_notes.begin(), layout_notes.end());

  // 5. The plan, within the memory.
  std::vector<ArrayMeta>& sources = planned.sources;
  std::vector<ArrayMeta>& targets = planned.targets;
  for (const ArrayNode& node : tree.arrays) {
    sources.push_back(source_of.at(node.meta.path));
    targets.push_back(node.meta);
  }
  std::vector<PlanInput> inputs;
  for (std::size_t i = 0; i < targets.size(); ++i) inputs.push_back({&sources[i], &targets[i]});
  PlanRequest plan_request;
  plan_request.memory_bytes = request.memory_bytes != 0 ? request.memory_bytes : available_memory_bytes() / 2;
  plan_request.base_bytes = planned_base_bytes(inputs, tree, opened.from->is_directory, to.is_directory);
  if (to.is_directory && !makes_directory(to, request.target)) plan_request.base_bytes += zip_directory_bytes(inputs);
  plan_request.n_threads =
      request.n_threads > 0 ? request.n_threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  plan_request.allows_loss = request.allow_loss;
  plan_request.proves_all = request.verify == VerifyMode::full || request.step != RechunkStep::all;
  if (plan_request.proves_all) plan_request.base_bytes += proofs_bytes(inputs);
  if (request.step == RechunkStep::all) {
    plan_request.scratch = scratch_space(request, inputs);
  } else {
    plan_request.base_bytes = base_bytes_of_parts(plan_request.base_bytes, fixed);
    if (fixed) plan_request.memory_bytes = fixed->memory_bytes;
    if (fixed) plan_request.n_threads = fixed->n_threads;
  }
  planned.n_threads_asked = plan_request.n_threads;
  planned.plan = make_plan(inputs, plan_request);
  for (std::size_t i = 0; i < targets.size(); ++i)
    report.variables.push_back({sources[i], targets[i], planned.plan.arrays[i]});
  report.plan = planned.plan;
  report.plan.arrays.clear();
  predict(report);

  // What cannot fit the disk is refused before anything is written. Samples cost a little; they are taken where they
  // are shown, or decide.
  if (request.dry_run) {
    report.disk = disk_need(request, reader, planned, true);
    if (report.disk) require_space(*report.disk);
  } else if (const auto most = disk_need(request, reader, planned, false);
             most && most->target.high_bytes > static_cast<double>(most->free_bytes)) {
    require_space(*disk_need(request, reader, planned, true));
  }
  return planned;
}

}  // namespace chunkwise
