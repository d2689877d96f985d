#include "app/advise_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "base/error.h"
#include "base/suggest.h"
#include "rechunk/select.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

using Variable = AdviseReport::Variable;

/// With every stored chunk counted.
Hierarchy counted(const FormatRow& format, const std::string& path) {
  const std::unique_ptr<Reader> reader = format.open(path);
  reader->count_exactly();
  return reader->tree();
}

/// All dimensions behind a hint that names only the nearest.
std::string listed(const std::string& hint, const std::vector<std::string>& dims) {
  if (hint.find("did you mean") == std::string::npos) return hint;
  return fmt::format("{} The dimensions are {}", hint, fmt::join(dims, ", "));
}

}  // namespace

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
  variable.target = meta;
  variable.axes = axes_of(meta);
  variable.n_chunks = meta.storage == Storage::chunked ? meta.grid().n_chunks() : 1;
  if (meta.dtype.is_varying()) {
    variable.notes.push_back(fmt::format("elements have any length: sizes are those of {} bytes for each, which in {}",
                                         meta.dtype.bytes,
                                         meta.dtype.refers ? "HDF5 are its place, what it holds lies elsewhere"
                                                           : "Zarr stand for what they are stored in"));
  }
  return variable;
}

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

void collect_variables(const AdviseRequest& request, const FormatRow* to, AdviseReport& report) {
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
  std::map<std::string, const ArrayMeta*> targets;
  Hierarchy target;
  if (to != nullptr && to->name != tree.format) {
    target = tree;
    AdaptReport adapted;
    to->adapt(target, adapted);
    report.n_losses = adapted.losses.size();
    for (const auto& node : target.arrays) targets[node.meta.path] = &node.meta;
  }
  for (const std::size_t index : wanted) {
    const ArrayMeta& listed = tree.arrays[index].meta;
    const auto why = why_skipped(listed);
    if (why.empty()) {
      report.variables.push_back(to_variable(listed));
      if (const auto found = targets.find(listed.path); found != targets.end()) {
        report.variables.back().target = *found->second;
      }
    } else {
      report.skipped.push_back({listed.path, why});
    }
  }
}

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
                first->unknown_dim.empty() ? first->hint : listed(suggest(first->unknown_dim, dims), dims));
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

}  // namespace chunkwise
