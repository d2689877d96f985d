// What the advisor found, and its two forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array/meta.h"
#include "model/cost.h"
#include "model/pattern.h"
#include "model/search.h"

namespace chunkwise {

/// Plain data.
struct AdviseReport {
  struct Layout {
    enum class Kind { current, recommended, candidate, policy };
    Kind kind = Kind::policy;
    std::string name;            // "current", "recommended", "candidate", or the policy's
    std::optional<Shape> chunk;  // nothing: contiguous
    std::optional<Shape> shard;  // nothing: every chunk stands alone
    double weighted_s = 0;       // sum over the patterns of weight * seconds
    double objective = 0;        // as the goal counts; less is better
    double size_bytes = 0;       // on disk, as the whole array is written now
    std::vector<Cost> costs;     // one per pattern
  };
  struct Variable {
    bool exists = true;  // false: only a shape was given; path, stored bytes and the current layout mean nothing
    ArrayMeta meta;
    Axes axes;
    Index n_chunks = 0;  // 1 for a contiguous array
    std::vector<AccessPattern> patterns;
    std::vector<Layout> layouts;  // current (if it exists), recommended, candidates, policies by weighted time
    std::vector<std::string> notes;

    const Layout* find(Layout::Kind kind) const;
  };
  /// What was recognised of an access log.
  struct Log {
    std::string file;
    std::uint64_t lines = 0;
    std::uint64_t recognised = 0;  // reads of data
    std::uint64_t metadata = 0;
    std::uint64_t failed = 0;
    std::uint64_t other = 0;  // not understood
    std::string first_other;
  };
  struct Skipped {
    std::string path;
    std::string why;
  };

  /// The present layout by the goal over the recommended one, of the variable where that is largest; 1 if nothing
  /// exists yet.
  double worst_gain() const;
  /// The path of that variable.
  std::string worst_variable() const;

  std::string file;    // empty: only a shape was given
  std::string format;  // name of its format
  bool is_directory = false;
  Device device{};
  std::string objective = "weighted";
  bool is_default = false;  // device, accesses and limits are the default ones
  std::optional<Log> log;
  std::vector<Variable> variables;
  std::vector<Skipped> skipped;
};

/// At most 80 columns wide where names allow; variables of the same shape and layout share one table. `explain` adds
/// the formula with the numbers put in.
std::string advise_text(const AdviseReport& report, bool explain);

/// The formula with its numbers, for the current and the recommended layout. Part of advise_text.
std::string explain_text(const AdviseReport& report, const AdviseReport::Variable& variable);

/// Schema "chunkadvise/1".
std::string advise_json(const AdviseReport& report);

}  // namespace chunkwise
