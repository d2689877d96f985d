#include "app/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "app/advise_layouts.h"
#include "app/advise_rewrite.h"
#include "app/advise_tradeoffs.h"
#include "app/advise_variables.h"
#include "base/error.h"
#include "base/suggest.h"
#include "model/search_shards.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

/// A shard for every so many objects that an array would have: file systems and object stores then get slow.
constexpr std::uint64_t kManyObjects = 10000;
/// Variables of which data is read, the largest first; the others have the sizes that their present chunks tell.
constexpr std::size_t kMostSampled = 16;

/// The format advised for; null: nobody said, and there is no file.
const FormatRow* target_format(const AdviseRequest& request, const std::string& from) {
  if (request.to.empty()) return find_format(from);
  const FormatRow* row = find_format(request.to);
  std::vector<std::string> known;
  for (const FormatRow& format : format_rows()) {
    if (format.create != nullptr && format.chunked_kin.empty()) known.emplace_back(format.name);
  }
  if (row == nullptr || row->create == nullptr)
    throw Error(Code::usage, fmt::format("cannot write format '{}'", request.to), suggest(request.to, known));
  if (!row->chunked_kin.empty())
    throw Error(Code::usage, fmt::format("--to {}: {} has no chunks to advise on", request.to, row->summary),
                fmt::format("formats with chunks: {}", fmt::join(known, ", ")));
  return row;
}

/// Refuses limits and codecs that would do nothing.
void check_request(const AdviseRequest& request, bool in_objects) {
  if (request.limits.max_objects && !in_objects)
    throw Error(Code::usage,
                "a limit on objects is for formats that keep chunks as objects; here all chunks are in one file",
                "name a format with --to zarr3 or --to zarr2");
  if (request.codec_candidates.empty()) return;
  if (request.shape)
    throw Error(Code::usage, "codecs cannot be compared without a file: nobody knows how its data compresses",
                "give a FILE");
  if (request.sample_bytes == 0u)
    throw Error(Code::usage, "codecs cannot be compared without a sample of the data", "leave --sample 0 out");
}

/// Codecs that the format cannot store are refused by name.
void check_codecs(const Question& question, const FormatRow& to, const std::vector<Variable>& variables) {
  if (variables.empty()) return;
  for (const auto& codecs : question.codecs) {
    Hierarchy tree;
    tree.format = to.name;
    tree.groups.push_back({"/", {}, {}, 0, nullptr});
    ArrayNode node;
    node.meta = variables.front().target;
    node.meta.path = "/" + node.meta.path.substr(node.meta.path.rfind('/') + 1);
    node.meta.storage = Storage::chunked;
    node.meta.shards.clear();
    node.meta.codecs = codecs;
    tree.arrays.push_back(std::move(node));
    try {
      to.check(tree);
    } catch (const Error& error) {
      throw Error(Code::usage, fmt::format("codecs {}: {}", to_string(codecs), error.message()),
                  "choose codecs that " + std::string(to.summary) + " has");
    }
  }
}

/// What is worth a look at the data: compressed variables, or all where codecs are to be compared.
std::vector<std::size_t> to_sample(const AdviseReport& report, const Question& question) {
  std::vector<std::size_t> chosen;
  if (report.file.empty() || question.sample_bytes == 0) return chosen;
  for (std::size_t i = 0; i < report.variables.size(); ++i) {
    if (!question.codecs.empty() || decode_cost(report.variables[i].meta.codecs).compresses) chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return report.variables[a].meta.stored_bytes > report.variables[b].meta.stored_bytes;
  });
  if (chosen.size() > kMostSampled) chosen.resize(kMostSampled);
  return chosen;
}

std::vector<double> seconds_of(const Layout& layout) {
  std::vector<double> seconds;
  for (const auto& cost : layout.costs) seconds.push_back(cost.seconds);
  return seconds;
}

/// The rewrite from the present layout, where the recommended one is another.
void price_rewrite(Variable& variable, bool to_objects, const Question& question, SearchCache& cache) {
  const Layout* now = variable.find(Layout::Kind::current);
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  if (now == nullptr || (now->chunk == pick.chunk && now->shard == pick.shard && now->codecs == pick.codecs)) return;
  variable.rewrite = cache.rewrite(variable, pick, to_objects, question);
  if (!variable.rewrite) return;
  const BreakEven even = break_even(variable.rewrite->seconds, variable.patterns, seconds_of(*now), seconds_of(pick));
  variable.rewrite->pattern = even.pattern;
  variable.rewrite->pays_after = even.reads;
}

/// The usual reader of a format.
std::string reader_of(std::string_view format) {
  if (format == "nc4" || format == "nc3") return "netcdf";
  return usual_client(format.rfind("zarr", 0) == 0 ? Placement::one_object : Placement::one_file);
}

/// Whom the request names; else whose time the device's constants hold, else the usual reader. Throws Error{usage} for
/// one that cannot read what is there.
Client find_reader(const AdviseRequest& request, const Device& device, std::string_view format) {
  if (request.client.empty()) return find_client(device.client.empty() ? reader_of(format) : device.client);
  const Client client = find_client(request.client);
  const bool is_zarr = format.rfind("zarr", 0) == 0;
  if (format.empty() || client.is_plain() || client.name == "chunkwise" ||
      (client.kind == Client::Kind::zarr) == is_zarr)
    return client;
  throw Error(Code::usage, fmt::format("{} does not read {}", client.name, is_zarr ? "Zarr" : "HDF5 or netCDF"),
              is_zarr ? "zarr-python, tensorstore and chunkwise do" : "hdf5, netcdf and chunkwise do");
}

}  // namespace

AdviseReport advise(const AdviseRequest& request) {
  // 1. Understand the request.
  if (request.path.empty() == !request.shape) {
    throw Error(Code::usage, request.shape ? "FILE and --shape exclude each other" : "FILE is required, or --shape",
                "chunkadvise FILE, or chunkadvise --shape 98128,277,349 --dtype f4 --dims time,y,x");
  }
  if (!request.shape && (!request.dtype.empty() || !request.dims.empty())) {
    throw Error(Code::usage, "--dtype and --dims describe an array without a file and need --shape");
  }
  Question question = understand(request);
  AdviseReport report;
  report.file = request.path;
  report.device = question.device;
  if (!request.objective.empty()) report.objective = request.objective;
  const SearchLimits defaults;
  report.is_default = request.objective.empty() && request.to.empty() && request.codec_candidates.empty() &&
                      !request.limits.max_objects && !request.limits.max_client_bytes && request.device.empty() &&
                      request.accesses.empty() && request.access_log.empty() &&
                      request.limits.min_chunk_bytes == defaults.min_chunk_bytes &&
                      request.limits.max_chunk_bytes == defaults.max_chunk_bytes;

  report.shows_all_policies = request.top || !request.policies.empty();
  report.max_objects = request.limits.max_objects;
  report.max_client_bytes = request.limits.max_client_bytes;

  // 2. Collect the arrays: shapes, present chunks, stored sizes; and how the target would have them.
  if (request.shape) {
    report.variables.push_back(imagined_variable(request));
  } else {
    collect_variables(request, request.to.empty() ? nullptr : target_format(request, {}), report);
  }
  const FormatRow* const to = target_format(request, report.format);
  const bool elsewhere = to != nullptr && to->name != report.format;
  const bool now_objects = report.is_directory;
  const bool then_objects = elsewhere ? to->is_directory : report.is_directory;
  report.to = to != nullptr ? to->name : "";
  check_request(request, then_objects);
  question.then_client = find_reader(request, question.device, report.to);
  // With --to another kind of reader reads the present file.
  question.now_client =
      elsewhere && now_objects != then_objects
          ? find_client(question.device.client.empty() ? reader_of(report.format) : question.device.client)
          : question.then_client;
  question.zarr_client = question.then_client.kind == Client::Kind::hdf5
                             ? find_client(usual_client(Placement::one_object))
                             : question.then_client;
  report.client = question.then_client.name;
  if (to != nullptr) check_codecs(question, *to, report.variables);
  const bool asks_for_shards = request.to == "zarr3" || request.limits.max_objects;
  question.sharded = to != nullptr && to->has_shards && then_objects && asks_for_shards;
  if (question.sharded && !question.limits.max_objects) question.limits.max_objects = kManyObjects;
  for (auto& variable : report.variables) variable.in_objects = now_objects;
  const bool wants_contiguous = std::any_of(question.candidates.begin(), question.candidates.end(),
                                            [](const Candidate& candidate) { return candidate.contiguous; });
  if (to != nullptr && to->is_directory && wants_contiguous) {
    throw Error(Code::usage, fmt::format("{} has no contiguous layout", to->name), "give the candidate chunks");
  }

  // 3. Tie the accesses to them.
  if (question.log) {
    const auto& counts = question.log->counts();
    report.log = AdviseReport::Log{request.access_log, counts.lines, counts.recognised,          counts.metadata,
                                   counts.failed,      counts.other, question.log->first_other()};
  }
  require_use(question, report.variables);
  for (auto& variable : report.variables) bind_accesses(variable, question);
  std::erase_if(report.variables, [&](const Variable& variable) {
    if (!variable.patterns.empty()) return false;
    report.skipped.push_back({variable.meta.path, variable.notes.empty() ? "no access" : variable.notes.front()});
    return true;
  });

  // 4. See how data compresses in other chunks.
  std::map<std::size_t, SizeSampler> samplers;
  const auto sampled = to_sample(report, question);
  if (!sampled.empty()) {
    const std::unique_ptr<Reader> reader = detect_format(request.path).open(request.path);
    for (const std::size_t i : sampled) {
      const ArrayMeta& meta = report.variables[i].meta;
      samplers.emplace(i, sample_array(*reader, meta, question.sample_bytes, question.sample_asked_for));
    }
  }

  // 5. Price the present layout, the policies and candidates; search for the best, for leaner ones and for two copies.
  SearchCache cache;
  for (std::size_t i = 0; i < report.variables.size(); ++i) {
    Variable& variable = report.variables[i];
    const auto sampler = samplers.find(i);
    const SizeSampler* sample = sampler == samplers.end() ? nullptr : &sampler->second;
    if (sample != nullptr) variable.sample = {sample->n_boxes(), sample->decoded_bytes(), sample->why_not()};
    const Stored now = stored_now(variable.meta, now_objects, question.now_client);
    const Stored then = stored_then(variable.target, then_objects, now, question.then_client);
    price_layouts(variable, now, then, sample, question, cache);
    find_front(variable, then, question, cache);
    find_copies(variable, then, question, cache);
    price_rewrite(variable, then_objects, question, cache);
  }
  return report;
}

Shape recommended_chunk(const ArrayMeta& meta, bool in_objects) {
  if (!why_skipped(meta).empty()) return meta.chunk;
  Question question = understand({});
  question.now_client = question.then_client = question.zarr_client =
      find_reader({}, question.device, in_objects ? "zarr3" : "");
  Variable variable = to_variable(meta);
  bind_accesses(variable, question);
  if (variable.patterns.empty()) return meta.chunk;
  variable.exists = meta.storage == Storage::chunked;
  SearchCache cache;
  const Stored now = stored_now(meta, in_objects, question.now_client);
  price_layouts(variable, now, stored_then(meta, in_objects, now, question.then_client), nullptr, question, cache);
  return *variable.find(Layout::Kind::recommended)->chunk;
}

}  // namespace chunkwise
