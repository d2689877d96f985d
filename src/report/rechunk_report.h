// What a rewrite planned and did, and its two forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "array/dataset.h"
#include "rechunk/estimate.h"
#include "rechunk/execute.h"
#include "rechunk/limits.h"
#include "rechunk/plan.h"
#include "rechunk/verify.h"

namespace chunkwise {

/// What a rewrite will write, and where.
struct DiskNeed {
  SizeEstimate target;
  std::uint64_t scratch_bytes = 0;     // of the largest intermediate array, which is gone afterwards
  bool scratch_beside_target = false;  // on the same disk
  std::string folder;                  // of the target
  std::uint64_t free_bytes = 0;        // there
};

/// Plain data; `actual` members hold only after a run (not after --dry-run).
struct RechunkReport {
  struct Variable {
    ArrayMeta source;
    ArrayMeta target;
    ArrayPlan plan;
  };
  std::string source;
  std::string target;
  std::string from_format;
  std::string to_format;
  std::vector<Variable> variables;
  Plan plan;  // without its arrays, which are in `variables`
  std::vector<std::string> notes;
  std::vector<Loss> losses;

  /// Before the run: of every array the longer of the device's work and the cores'. Within a factor of error_factor.
  double predicted_seconds = 0;
  double error_factor = 1;
  std::string predicted_for;  // the device
  /// With --dry-run.
  std::optional<DiskNeed> disk;

  bool dry_run = false;
  /// What earlier runs had done when this one went on; `totals` are of this run alone.
  struct Resumed {
    Index n_tiles = 0;  // left out altogether
    Index n_chunks = 0;
    std::uint64_t bytes = 0;  // of the arrays, decoded
  };
  std::optional<Resumed> resumed;
  /// Of a rewrite that several processes share, this one's step.
  struct Slots {
    enum class Step { plan, part, finish } step = Step::plan;
    int part = 0;
    int n_parts = 0;            // 0: not known yet
    bool was_complete = false;  // there was nothing left to do
    std::string folder;
  };
  std::optional<Slots> slots;
  bool copied_as_is = false;  // nothing changes, so the file was copied byte for byte
  StageTotals totals;
  double seconds = 0;  // from planning to publishing, verification included
  double rewrite_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  VerifyReport verified;
  /// Measured after the run if it was asked for.
  std::optional<Limits> limits;
};

/// At most 80 columns wide where names allow. With `report.limits`, a table of the stages follows.
std::string rechunk_text(const RechunkReport& report);
/// Schema "rechunk/1", docs/json.md.
std::string rechunk_json(const RechunkReport& report);

}  // namespace chunkwise
