// The rewrite of one dataset, from request to report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/log.h"
#include "report/rechunk_report.h"

namespace chunkwise {

/// All of a rewrite, or one step of a rewrite that several processes share, see app/slots.h.
enum class RechunkStep { all, plan, part, finish };

/// Everything the user can ask of `rechunk`. Plain data.
struct RechunkRequest {
  std::string source;
  std::string target;
  std::vector<std::string> chunks;  // -c, see parse_chunk_spec
  std::vector<std::string> shards;  // --shards, see parse_shard_spec
  std::vector<std::string> codecs;  // --codec, see parse_codec_request
  std::string to;                   // target format; empty: by suffix, else as the source
  std::vector<std::string> variables;
  std::vector<std::string> exclude;
  std::uint64_t memory_bytes = 0;  // of the whole process; 0: half of what is available
  int n_threads = 0;               // 0: one per core
  bool dry_run = false;
  bool overwrite = false;
  bool resume = false;  // go on where an earlier run of the same request ended
  bool allow_loss = false;
  /// Where intermediate arrays may lie; empty: beside the target; "none": nowhere, so that the source is read again.
  std::string scratch;
  VerifyMode verify = VerifyMode::sample;
  RechunkStep step = RechunkStep::all;
  int part = 0;  // of n_parts, from 1; of step `part` only
  int n_parts = 0;
  bool stats = false;  // measure afterwards what the machine could do at most
  /// Chooses chunk shapes for `-c auto`; the command passes the advisor.
  std::function<Shape(const ArrayMeta&, bool in_objects)> advise;
};

/// Where progress goes; called on the thread that called rechunk(). Members may be empty.
struct RechunkObserver {
  LogSink log;
  std::function<void(const char* phase, const Progress&)> progress;
};

/// Rewrites the dataset. The target appears under its name only when it is complete and verified. On an error nothing
/// is left, except after a failed verification and where work can go on later (`stop` was requested, or the request
/// says resume): then the message names what is kept. Throws Error with the code of the failure; Error{interrupted} if
/// `stop` is requested.
RechunkReport rechunk(const RechunkRequest& request, const RechunkObserver& observer, std::stop_token stop);

}  // namespace chunkwise
