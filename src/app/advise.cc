#include "app/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "app/profiles.h"
#include "array/dataset.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/suggest.h"
#include "format/registry.h"
#include "model/access_log.h"
#include "model/policy.h"
#include "rechunk/select.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;
using LayoutShape = std::optional<Shape>;  // nothing: contiguous

/// A --candidate, parsed.
struct Candidate {
  std::string text;
  bool contiguous = false;
  std::optional<Shape> list;  // by position
  AxisLengths lengths;
};

Candidate parse_candidate(const std::string& text) {
  Candidate candidate;
  candidate.text = text;
  if (text == "contiguous") {
    candidate.contiguous = true;
  } else if (!text.empty() && text.find_first_not_of("0123456789,") == std::string::npos) {
    candidate.list = parse_shape(text);
  } else {
    candidate.lengths = parse_axis_lengths(text);
  }
  return candidate;
}

std::variant<LayoutShape, NotApplicable> bind(const Candidate& candidate, const Axes& axes) {
  if (candidate.contiguous) return LayoutShape{};
  if (!candidate.list) {
    auto bound = bind(candidate.lengths, axes, true);
    if (auto* no = std::get_if<NotApplicable>(&bound)) return std::move(*no);
    return LayoutShape{std::get<Shape>(bound)};
  }
  if (candidate.list->rank() != axes.rank()) {
    return NotApplicable{fmt::format("{} lengths for {} axes", candidate.list->rank(), axes.rank()), {}, {}};
  }
  Shape chunk = *candidate.list;
  for (int axis = 0; axis < axes.rank(); ++axis) {
    chunk[axis] = std::min(chunk[axis], axes.shape[axis]);
    if (chunk[axis] < 1) return NotApplicable{"a length is 0", {}, {}};
  }
  return LayoutShape{chunk};
}

/// The request with every text understood.
struct Question {
  std::vector<AccessSpec> accesses;
  bool default_accesses = false;
  std::optional<AccessLog> log;
  Device device;
  std::vector<Candidate> candidates;
  std::vector<Policy> policies;
  std::optional<std::size_t> top;
  SearchLimits limits;
  Goal goal;
  Placement placement = Placement::one_file;
};

AccessLog read_access_log(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) {
    throw Error(errno == ENOENT ? Code::not_found : Code::io,
                fmt::format("cannot read the access log {}: {}", path, std::strerror(errno)));
  }
  AccessLog log;
  for (std::string line; std::getline(file, line);) log.add(line);
  if (file.bad()) throw Error(Code::io, fmt::format("cannot read the access log {}", path));
  if (log.counts().recognised == 0) {
    const auto& counts = log.counts();
    throw Error(Code::usage,
                fmt::format("no line of the access log {} reads data ({} lines: {} of metadata, {} failed, {} not "
                            "understood{})",
                            path, counts.lines, counts.metadata, counts.failed, counts.other,
                            log.first_other().empty() ? "" : fmt::format(", the first is '{}'", log.first_other())),
                "known: OPeNDAP requests (.dods, .ascii, .dap, .nc) in common or combined log format, and JSON lines");
  }
  return log;
}

Goal find_goal(const AdviseRequest& request) {
  Goal goal{Objective::weighted, request.price_per_request, request.price_per_byte};
  std::vector<std::string> names;
  for (const auto& row : objective_rows()) {
    names.emplace_back(row.name);
    if (row.name == request.objective) goal.objective = row.objective;
  }
  if (!request.objective.empty() && std::find(names.begin(), names.end(), request.objective) == names.end()) {
    throw Error(Code::usage, fmt::format("no objective '{}'", request.objective), suggest(request.objective, names));
  }
  return goal;
}

Question understand(const AdviseRequest& request) {
  Question question;
  if (!request.access_log.empty()) question.log = read_access_log(request.access_log);
  question.default_accesses = request.accesses.empty() && !question.log;
  for (const auto& text : request.accesses) {
    auto access = parse_access(text);
    for (const auto& earlier : question.accesses) {
      if (earlier.name == access.name)
        throw Error(Code::usage, fmt::format("two accesses are named '{}'", access.name));
    }
    question.accesses.push_back(std::move(access));
  }
  if (question.default_accesses) question.accesses = default_accesses();
  question.device = load_device(request.device);
  for (const auto& text : request.candidates) question.candidates.push_back(parse_candidate(text));
  for (const auto& name : request.policies) question.policies.push_back(find_policy(name));
  if (question.policies.empty()) question.policies = default_policies();
  if (request.round_up) {
    bool rounds_any = false;
    for (auto& policy : question.policies) {
      if (policy.row->chunk != chunk_rew) continue;
      policy.row = find_policy("rew-ceil").row;
      rounds_any = true;
    }
    if (!rounds_any) throw Error(Code::usage, "rounding up is for the policy rew, which is not asked for");
  }
  question.top = request.top;
  question.limits = request.limits;
  question.goal = find_goal(request);
  return question;
}

bool is_chunked(const ArrayMeta& meta) {
  return meta.storage == Storage::chunked;
}

/// How the array is stored now, or will be: bytes on disk per byte come from its present chunks.
struct Stored {
  StoredArray array;   // chunk is the present one
  double written = 1;  // share of the array that has ever been written
};

Stored stored_array(const ArrayMeta& meta, Placement placement) {
  Stored stored;
  stored.array.shape = meta.shape;
  stored.array.element_bytes = meta.dtype.bytes;
  if (is_chunked(meta)) stored.array.chunk = meta.chunk;
  if (!meta.shards.empty()) stored.array.shard = meta.unit();
  stored.array.placement = placement;
  stored.array.pads_edges = is_chunked(meta) ? meta.pads_edges : true;
  stored.array.decode = decode_cost(meta.codecs);
  if (meta.stored_bytes == 0) return stored;  // nothing written yet: priced as if full, one byte for one
  if (is_chunked(meta)) {
    const Index n_chunks = meta.grid().n_chunks();
    if (n_chunks > 0 && meta.n_stored_chunks > 0) {
      stored.written = std::min(1.0, static_cast<double>(meta.n_stored_chunks) / static_cast<double>(n_chunks));
    }
  }
  const double full_bytes = stored_size_bytes(stored.array) * stored.written;  // at one byte for one
  stored.array.stored_ratio = static_cast<double>(meta.stored_bytes) / full_bytes;
  return stored;
}

/// Chunk shapes found, by everything the search depends on: a thousand alike variables are searched once.
class SearchCache {
 public:
  SearchResult find(const Stored& stored, const Axes& axes, const std::vector<AccessPattern>& patterns,
                    const Question& question) {
    StoredArray array = stored.array;
    // Ratios within 5 % of each other share a search.
    array.stored_ratio = std::pow(1.05, std::round(std::log(array.stored_ratio) / std::log(1.05)));
    std::string key = fmt::format("{} {} {} {} {} {}", to_string(array.shape), array.element_bytes, array.stored_ratio,
                                  array.pads_edges, array.decode.s_per_byte, array.decode.compresses);
    if (array.shard) key += " in " + to_string(*array.shard);
    for (const bool unlimited : axes.unlimited) key += unlimited ? 'u' : 'f';
    for (const auto& pattern : patterns)
      key += fmt::format(" {}/{}@{}", to_string(pattern.extents), to_string(pattern.steps), pattern.weight);
    if (const auto known = results_.find(key); known != results_.end()) return known->second;
    const auto result = search_chunks(array, axes.unlimited, patterns, question.device, question.limits, question.goal);
    results_.emplace(key, result);
    return result;
  }

 private:
  std::map<std::string, SearchResult> results_;
};

/// The shards of a store around other chunks: as many whole ones as come nearest on each axis.
LayoutShape shard_around(const Shape& chunk, const ArrayMeta& meta) {
  if (meta.shards.empty()) return {};
  Shape shard = meta.unit();
  for (int axis = 0; axis < shard.rank(); ++axis) {
    const Index n = std::max<Index>(1, (shard[axis] + chunk[axis] / 2) / chunk[axis]);
    shard[axis] = n * chunk[axis];
  }
  return shard == chunk ? LayoutShape() : shard;
}

Layout price_layout(Layout::Kind kind, std::string name, const LayoutShape& chunk, const Stored& stored,
                    const LayoutShape& shard, const std::vector<AccessPattern>& patterns, const Question& question) {
  Layout layout;
  layout.kind = kind;
  layout.name = std::move(name);
  layout.chunk = chunk;
  layout.shard = shard;
  StoredArray array = stored.array;
  array.chunk = chunk;
  array.shard = layout.shard;
  if (!chunk && stored.array.chunk) {  // a contiguous array has no codecs
    array.decode = {};
    array.stored_ratio = 1;
  }
  std::vector<double> values;
  for (const auto& pattern : patterns) {
    layout.costs.push_back(price(array, pattern, question.device));
    layout.weighted_s += pattern.weight * layout.costs.back().seconds;
    values.push_back(question.goal.value(layout.costs.back()));
  }
  layout.objective = question.goal.combine(values, patterns);
  layout.size_bytes = stored_size_bytes(array) * (chunk ? stored.written : 1.0);
  return layout;
}

double bytes_of(const Shape& shape, std::size_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const Index length : shape) bytes *= static_cast<double>(length);
  return bytes;
}

bool within(const LayoutShape& chunk, const ArrayMeta& meta, const SearchLimits& limits) {
  if (!chunk) return false;
  const double bytes = bytes_of(*chunk, meta.dtype.bytes);
  const auto least = least_chunk_bytes(limits, bytes_of(meta.shape, meta.dtype.bytes));
  return bytes >= static_cast<double>(least) && bytes <= static_cast<double>(limits.max_chunk_bytes);
}

/// All layouts of one variable, priced, in the order of the report.
void price_layouts(Variable& variable, const Stored& stored, const Question& question, SearchCache& cache) {
  const auto& patterns = variable.patterns;
  const auto priced = [&](Layout::Kind kind, const std::string& name, const LayoutShape& chunk) {
    const LayoutShape shard = chunk ? shard_around(*chunk, variable.meta) : LayoutShape();
    return price_layout(kind, name, chunk, stored, shard, patterns, question);
  };
  std::vector<Layout> others;
  for (const auto& candidate : question.candidates) {
    const auto bound = bind(candidate, variable.axes);
    if (const auto* chunk = std::get_if<LayoutShape>(&bound)) {
      others.push_back(priced(Layout::Kind::candidate, "candidate", *chunk));
    } else {
      variable.notes.push_back(
          fmt::format("candidate {} does not apply: {}", candidate.text, std::get<NotApplicable>(bound).why));
    }
  }
  std::vector<Layout> policies;
  const PolicyInput input{variable.axes.shape, variable.axes.unlimited, variable.meta.dtype.bytes, variable.axes.names,
                          patterns};
  for (const auto& policy : question.policies) {
    const Shape chunk = policy.chunk(input);
    if (policy.row->shard == nullptr) {
      policies.push_back(priced(Layout::Kind::policy, policy.name, chunk));
      continue;
    }
    LayoutShape shard = policy.row->shard(input, chunk);
    if (*shard == chunk) shard.reset();
    Stored in_store = stored;
    in_store.array.placement = Placement::one_object;
    policies.push_back(price_layout(Layout::Kind::policy, policy.name, chunk, in_store, shard, patterns, question));
  }
  std::stable_sort(policies.begin(), policies.end(),
                   [](const Layout& a, const Layout& b) { return a.objective < b.objective; });

  const auto found = cache.find(stored, variable.axes, patterns, question);
  if (!found.within_limits)
    variable.notes.push_back("no chunk shape meets the limits on chunk size and padding exactly");
  Layout best = priced(Layout::Kind::recommended, "recommended", found.chunk);
  const auto consider = [&](const Layout& layout, bool allowed) {
    if (allowed && layout.objective < best.objective) {
      best = layout;
      best.kind = Layout::Kind::recommended;
      best.name = "recommended";
    }
  };
  for (const auto* list : {&others, &policies}) {
    for (const auto& layout : *list) consider(layout, within(layout.chunk, variable.meta, question.limits));
  }
  if (variable.exists) {
    const LayoutShape chunk = is_chunked(variable.meta) ? LayoutShape(variable.meta.chunk) : LayoutShape();
    Layout current = priced(Layout::Kind::current, "current", chunk);
    if (variable.meta.stored_bytes > 0) current.size_bytes = static_cast<double>(variable.meta.stored_bytes);
    consider(current, true);
    variable.layouts.push_back(std::move(current));
  }
  if (question.top && policies.size() > *question.top) policies.resize(*question.top);
  variable.layouts.push_back(std::move(best));
  for (auto* list : {&others, &policies}) std::move(list->begin(), list->end(), std::back_inserter(variable.layouts));
}

/// The accesses that apply to the variable; the others become notes.
void bind_accesses(Variable& variable, const Question& question) {
  if (question.log) {
    constexpr std::size_t kMostKinds = 12;
    std::uint64_t n_unfit = 0;
    std::uint64_t n_rest = 0;
    variable.patterns = question.log->patterns(variable.meta.path, variable.axes, kMostKinds, n_unfit, n_rest);
    if (n_unfit > 0) {
      variable.notes.push_back(fmt::format("{} logged requests do not fit the array", n_unfit));
    }
    if (n_rest > 0) variable.notes.push_back(fmt::format("{} rarer logged requests are left out", n_rest));
  }
  for (const auto& access : question.accesses) {
    auto bound = bind(access, variable.axes);
    if (auto* pattern = std::get_if<AccessPattern>(&bound)) {
      variable.patterns.push_back(std::move(*pattern));
    } else {
      variable.notes.push_back(
          fmt::format("access {} does not apply: {}", access.name, std::get<NotApplicable>(bound).why));
    }
  }
}

/// An access or candidate the user wrote must mean something for at least one variable.
void require_use(const Question& question, const std::vector<Variable>& variables) {
  const auto require = [&](const std::string& what, const auto& spec) {
    std::optional<NotApplicable> first;
    std::vector<std::string> dims;
    for (const auto& variable : variables) {
      auto bound = bind(spec, variable.axes);
      auto* no = std::get_if<NotApplicable>(&bound);
      if (no == nullptr) return;
      if (!first) first = std::move(*no);
      for (const auto& label : variable.axes.labels()) {
        if (std::find(dims.begin(), dims.end(), label) == dims.end()) dims.push_back(label);
      }
    }
    if (!first) return;  // no variable at all
    throw Error(Code::usage, fmt::format("{}: {}", what, first->why),
                first->unknown_dim.empty() ? first->hint : suggest(first->unknown_dim, dims));
  };
  if (question.log && std::all_of(variables.begin(), variables.end(), [&](const Variable& variable) {
        std::uint64_t n_unfit = 0;
        std::uint64_t n_rest = 0;
        return question.log->patterns(variable.meta.path, variable.axes, 1, n_unfit, n_rest).empty();
      })) {
    auto names = question.log->variables();
    if (names.size() > 12) names.resize(12);
    throw Error(Code::usage, "the access log reads none of the variables, or not within their extents",
                fmt::format("it reads {}", fmt::join(names, ", ")));
  }
  if (!question.default_accesses) {
    for (const auto& access : question.accesses) require(fmt::format("access '{}'", access.name), access);
  }
  for (const auto& candidate : question.candidates) require(fmt::format("candidate '{}'", candidate.text), candidate);
}

std::string why_skipped(const ArrayMeta& meta) {
  const int rank = meta.shape.rank();
  if (rank < 2) return rank == 0 ? "no dimension" : "one dimension";
  if (std::find(meta.shape.begin(), meta.shape.end(), 0) != meta.shape.end()) return "no elements";
  if (meta.dtype.bytes == 0) return fmt::format("elements of varying size ({})", meta.dtype.name());
  const auto n = checked_product(meta.shape);
  if (!n || !checked_mul(*n, static_cast<Index>(meta.dtype.bytes))) return "more than 8 EiB";
  return {};
}

Variable to_variable(const ArrayMeta& meta) {
  Variable variable;
  variable.meta = meta;
  variable.axes = axes_of(meta);
  variable.n_chunks = is_chunked(meta) ? meta.grid().n_chunks() : 1;
  if (meta.dtype.is_varying()) {
    variable.notes.push_back(fmt::format("elements have any length: sizes are those of {} bytes for each, which in {}",
                                         meta.dtype.bytes,
                                         meta.dtype.refers ? "HDF5 are its place, what it holds lies elsewhere"
                                                           : "Zarr stand for what they are stored in"));
  }
  return variable;
}

/// The array a request without a file describes.
Variable imagined_variable(const AdviseRequest& request) {
  ArrayMeta meta;
  meta.shape = *request.shape;
  const auto dtype = parse_dtype(request.dtype.empty() ? "f4" : request.dtype);
  if (!dtype) {
    throw Error(Code::usage, fmt::format("no element type '{}'", request.dtype),
                suggest(request.dtype, {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "bool"}));
  }
  meta.dtype = *dtype;
  if (!request.dims.empty() && request.dims.size() != static_cast<std::size_t>(meta.shape.rank())) {
    throw Error(Code::usage,
                fmt::format("{} dimension names for a shape of {} axes", request.dims.size(), meta.shape.rank()),
                "give --dims one name per axis of --shape");
  }
  for (std::size_t i = 0; i < request.dims.size(); ++i) {
    if (request.dims[i].empty()) throw Error(Code::usage, "an empty dimension name in --dims");
    for (std::size_t j = 0; j < i; ++j) {
      if (request.dims[i] == request.dims[j]) {
        throw Error(Code::usage, fmt::format("the dimension '{}' is named twice in --dims", request.dims[i]));
      }
    }
  }
  meta.dims = request.dims;
  meta.max_shape = meta.shape;
  meta.storage = Storage::contiguous;
  meta.chunk = meta.shape;
  if (const auto why = why_skipped(meta); !why.empty()) {
    throw Error(Code::usage, fmt::format("nothing to advise for the shape {}: {}", to_string(meta.shape), why),
                "give a shape of at least two axes, each of at least one element");
  }
  Variable variable = to_variable(meta);
  variable.exists = false;
  return variable;
}

/// With every stored chunk counted.
Hierarchy counted(const FormatRow& format, const std::string& path) {
  const std::unique_ptr<Reader> reader = format.open(path);
  reader->count_exactly();
  return reader->tree();
}

/// Metadata of the arrays asked for, from the file.
void collect_variables(const AdviseRequest& request, AdviseReport& report) {
  const FormatRow& format = detect_format(request.path);
  report.is_directory = format.is_directory && !is_zip_file(request.path);
  const Hierarchy tree = request.count_exactly ? counted(format, request.path) : describe(format, request.path);
  report.format = tree.format;
  std::vector<std::size_t> wanted;
  for (const auto& name : request.variables) {
    for (const std::size_t index : find_variables(tree, name)) {
      if (std::find(wanted.begin(), wanted.end(), index) == wanted.end()) wanted.push_back(index);
    }
  }
  if (request.variables.empty()) {
    for (std::size_t index = 0; index < tree.arrays.size(); ++index) wanted.push_back(index);
  }
  for (const std::size_t index : wanted) {
    const ArrayMeta& listed = tree.arrays[index].meta;
    const auto why = why_skipped(listed);
    if (why.empty()) {
      report.variables.push_back(to_variable(listed));
    } else {
      report.skipped.push_back({listed.path, why});
    }
  }
}

}  // namespace

Shape parse_shape(const std::string& text) {
  Shape shape;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    const std::string part(rest.substr(0, comma));
    if (part.empty() || part.size() > 18 || part.find_first_not_of("0123456789") != std::string::npos) {
      throw Error(Code::usage, fmt::format("'{}' in the shape '{}' is not a length", part, text),
                  "write whole numbers, for example 98128,277,349");
    }
    shape.push_back(std::stoll(part));
    if (comma == std::string_view::npos) return shape;
    rest = rest.substr(comma + 1);
  }
}

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
  report.is_default = request.objective.empty() && request.device.empty() && request.accesses.empty() &&
                      request.access_log.empty() && request.limits.min_chunk_bytes == defaults.min_chunk_bytes &&
                      request.limits.max_chunk_bytes == defaults.max_chunk_bytes;

  // 2. Collect the arrays: shapes, present chunks, stored sizes.
  if (request.shape) {
    report.variables.push_back(imagined_variable(request));
  } else {
    collect_variables(request, report);
  }
  const bool wants_contiguous = std::any_of(question.candidates.begin(), question.candidates.end(),
                                            [](const Candidate& candidate) { return candidate.contiguous; });
  const FormatRow* const row = find_format(report.format);
  if (row != nullptr && row->is_directory && wants_contiguous) {
    throw Error(Code::usage, fmt::format("{} has no contiguous layout", report.format), "give the candidate chunks");
  }
  question.placement = report.is_directory ? Placement::one_object : Placement::one_file;

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

  // 4. Price the present layout, the policies and candidates; search for the best.
  SearchCache cache;
  for (auto& variable : report.variables) {
    price_layouts(variable, stored_array(variable.meta, question.placement), question, cache);
  }
  return report;
}

Shape recommended_chunk(const ArrayMeta& meta) {
  if (!why_skipped(meta).empty()) return meta.chunk;
  const Question question = understand({});
  Variable variable = to_variable(meta);
  bind_accesses(variable, question);
  if (variable.patterns.empty()) return meta.chunk;
  variable.exists = is_chunked(meta);
  SearchCache cache;
  price_layouts(variable, stored_array(meta, question.placement), question, cache);
  return *variable.find(Layout::Kind::recommended)->chunk;
}

}  // namespace chunkwise
