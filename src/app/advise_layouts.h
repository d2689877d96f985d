// All layouts of a variable, priced.
#pragma once

#include <map>

#include "app/advise_question.h"
#include "app/advise_sizes.h"
#include "model/search_shards.h"

namespace chunkwise {

/// How an array is stored, or would be.
struct Stored {
  StoredArray array;   // chunk and shard are the present ones
  CodecSpecs codecs;   // of chunks; a contiguous array has none
  double written = 1;  // share of the array that has ever been written
};

/// As it is now: bytes on disk per byte come from its present chunks.
Stored stored_now(const ArrayMeta& meta, bool in_objects, const Client& client);
/// As the target would store it, with the share and the compression of the present chunks where those are known.
Stored stored_then(const ArrayMeta& target, bool in_objects, const Stored& now, const Client& client);

/// Layouts found, and rewrites priced, by everything they depend on: a thousand alike variables are searched once.
class SearchCache {
 public:
  ShardedResult find(const Stored& stored, const Axes& axes, const std::vector<AccessPattern>& patterns,
                     const Question& question, const SearchLimits& limits);
  /// As rewrite_cost().
  std::optional<AdviseReport::Rewrite> rewrite(const AdviseReport::Variable& variable,
                                               const AdviseReport::Layout& layout, bool to_objects,
                                               const Question& question);

 private:
  std::map<std::string, ShardedResult> results_;
  std::map<std::string, std::optional<AdviseReport::Rewrite>> rewrites_;
};

AdviseReport::Layout price_layout(AdviseReport::Layout::Kind kind, const std::string& name, const LayoutShape& chunk,
                                  const LayoutShape& shard, const Stored& stored,
                                  const std::vector<AccessPattern>& patterns, const Question& question);

/// All layouts of one variable, in the order of the report. `sampler` says how well data compresses; null: nobody
/// looked.
void price_layouts(AdviseReport::Variable& variable, const Stored& now, const Stored& then, const SizeSampler* sampler,
                   const Question& question, SearchCache& cache);

}  // namespace chunkwise
