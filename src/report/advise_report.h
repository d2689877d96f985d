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
    CodecSpecs codecs;           // of chunks
    double size_bytes = 0;       // on disk, as the whole array is written now: data, padding, index
    double size_low_bytes = 0;   // equal to size_bytes where nothing is uncertain or nobody looked
    double size_high_bytes = 0;
    bool size_is_sampled = false;  // from data encoded so
    double padding_bytes = 0;      // full edge chunks, stored as they are
    double index_bytes = 0;
    double client_bytes = 0;  // what a client holds of chunks while it reads; 0: contiguous
    double n_objects = 1;
    bool proven = false;      // recommended: nothing in the lattice is better by 1 %
    std::vector<Cost> costs;  // one per pattern
  };
  /// What a rewrite into the recommended layout takes.
  struct Rewrite {
    double seconds = 0;
    int n_threads = 1;
    double free_bytes = 0;     // for the target, beside the source
    double scratch_bytes = 0;  // for an intermediate, until it is done
    double passes = 1;         // times the source is read
    /// The access that gains most, and how many of it, with its share of the others, make up for the rewrite.
    std::size_t pattern = 0;
    double pays_after = 0;  // 0: never
  };
  /// Two copies, each for some of the accesses.
  struct Copies {
    std::vector<Layout> layouts;       // two
    std::vector<std::size_t> copy_of;  // of each pattern: which copy it reads
    bool keeps_present = false;        // the first copy is the present file
    double weighted_s = 0;
    double objective = 0;
    double size_bytes = 0;  // of both
    /// Of the access that gains most over the recommended layout alone: how many of it make up for writing the second
    /// copy. 0: never.
    std::size_t pattern = 0;
    double pays_after = 0;
  };
  /// What was encoded again to learn sizes.
  struct Sample {
    std::size_t n_boxes = 0;
    std::uint64_t decoded_bytes = 0;
    std::string why_not;  // nothing was, although the variable is compressed or codecs were to be compared
  };
  struct Variable {
    bool exists = true;  // false: only a shape was given; path, stored bytes and the current layout mean nothing
    ArrayMeta meta;
    ArrayMeta target;  // as the format to be written would store it, chunks kept; `meta` where it is the same format
    Axes axes;
    bool in_objects = false;  // chunks, or shards, are objects of their own
    Index n_chunks = 0;       // 1 for a contiguous array
    std::vector<AccessPattern> patterns;
    std::vector<Layout> layouts;  // current (if it exists), recommended, candidates, policies by weighted time
    std::vector<std::string> notes;
    std::optional<Rewrite> rewrite;  // where the recommended layout is another than the present one
    std::optional<Copies> copies;    // where two copies are quicker than the recommended layout by more than the error
    /// Layouts that no other beats in size, client memory and objective at once, fastest first.
    std::vector<Layout> front;
    std::optional<Sample> sample;

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
  std::string to;            // the format advised for; `format` where none was asked for
  std::size_t n_losses = 0;  // what that format cannot keep
  std::optional<std::uint64_t> max_objects;
  std::optional<std::uint64_t> max_client_bytes;
  bool shows_all_policies = false;  // asked for by name or number
  Device device{};
  std::string client;  // who reads
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
