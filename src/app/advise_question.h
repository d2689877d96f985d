// What is asked of the advisor, with every text understood.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/advise.h"
#include "model/access_log.h"
#include "model/client.h"
#include "model/policy.h"

namespace chunkwise {

/// Nothing: contiguous.
using LayoutShape = std::optional<Shape>;

/// A --candidate, parsed.
struct Candidate {
  std::string text;
  bool contiguous = false;
  std::optional<Shape> list;  // by position
  AxisLengths lengths;
};

std::variant<LayoutShape, NotApplicable> bind(const Candidate& candidate, const Axes& axes);

/// Plain data.
struct Question {
  std::vector<AccessSpec> accesses;
  bool default_accesses = false;
  std::optional<AccessLog> log;
  Device device;
  Client now_client;   // who reads the present layout, and
  Client then_client;  // who will read others; arrays point at them
  Client zarr_client;  // for policies of Zarr alone
  std::vector<Candidate> candidates;
  std::vector<Policy> policies;
  std::optional<std::size_t> top;
  SearchLimits limits;
  Goal goal;
  std::vector<CodecSpecs> codecs;  // besides each variable's own
  std::uint64_t sample_bytes = 0;  // of each variable
  bool sample_asked_for = false;
  bool sharded = false;  // chunks may share objects where there would be too many
};

/// Throws Error{usage} for texts that name nothing, what reading the access log and the device throws.
Question understand(const AdviseRequest& request);

/// "shuffle,deflate:1,zstd:3,none" -> three chains: each ends behind its compressor and what checks it. Throws
/// Error{usage}.
std::vector<CodecSpecs> parse_codec_candidates(const std::string& text);

}  // namespace chunkwise
