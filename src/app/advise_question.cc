#include "app/advise_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "app/profiles.h"
#include "base/error.h"
#include "base/suggest.h"
#include "codec/registry.h"

namespace chunkwise {
namespace {

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

}  // namespace

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

std::vector<CodecSpecs> parse_codec_candidates(const std::string& text) {
  std::vector<CodecSpecs> chains;
  CodecSpecs chain;
  bool ended = true;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    const std::string word(rest.substr(0, comma));
    const CodecSpecs specs = parse_codecs(word);
    if (specs.empty()) {  // none
      if (!ended) chains.push_back(std::move(chain));
      chain.clear();
      chains.emplace_back();
      ended = true;
    }
    for (const auto& spec : specs) {
      const CodecRole role = role_of(spec);
      if (role == CodecRole::checksum && ended && !chains.empty() && !chains.back().empty()) {
        chains.back().push_back(spec);
        continue;
      }
      chain.push_back(spec);
      ended = role == CodecRole::compressor;
      if (ended) chains.push_back(std::exchange(chain, {}));
    }
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  if (!chain.empty()) {
    throw Error(Code::usage, fmt::format("--codec-candidates '{}' ends without a compressor", text),
                "write for example --codec-candidates shuffle,deflate:1,zstd:3,none: a chain ends with its compressor");
  }
  return chains;
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
  for (const auto& text : request.codec_candidates) {
    for (auto& chain : parse_codec_candidates(text)) question.codecs.push_back(std::move(chain));
  }
  constexpr std::uint64_t kSample_bytes = 256 * 1024;
  question.sample_asked_for = request.sample_bytes.has_value();
  question.sample_bytes = request.sample_bytes.value_or(kSample_bytes);
  return question;
}

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

}  // namespace chunkwise
