// Named rules in use that choose a chunk shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/shape.h"
#include "model/pattern.h"

namespace chunkwise {

struct PolicyInput {
  Shape shape;                  // rank >= 1; extents may be 0
  std::vector<bool> unlimited;  // one per axis
  std::size_t element_bytes = 1;
  std::vector<std::string> names = {};       // one per axis, or none; for rules of producers
  std::vector<AccessPattern> patterns = {};  // for rules that weigh accesses; none: all is read at once
  std::optional<Shape> stored = {};          // the present chunk; none: contiguous, or nothing exists yet
};

/// One rule. `bytes` is its size target; rules without one ignore it. Every length of the result is at
/// least 1 and at most the extent, except on axes that are empty or grow.
struct PolicyRow {
  std::string_view name;
  std::string_view summary;
  std::uint64_t default_bytes;  // 0: takes no size
  Shape (*chunk)(const PolicyInput& input, std::uint64_t bytes);
  /// Zarr v3: the shard around these chunks. Null: the rule has none.
  Shape (*shard)(const PolicyInput& input, const Shape& chunk) = nullptr;
};
std::span<const PolicyRow> policy_rows();

/// NCO chooses twice: which variables to chunk (ncks --cnk_plc), and how (--cnk_map). What grows is always chunked.
struct NcoVariables {
  std::string_view name;
  std::string_view summary;
  bool (*chunks)(const PolicyInput& input);
};
std::span<const NcoVariables> nco_variables();

/// A rule with its size: "rew:64KiB".
struct Policy {
  std::string name;  // as asked for
  const PolicyRow* row = nullptr;
  std::uint64_t bytes = 0;
  const NcoVariables* variables = nullptr;  // null: the rule is for all

  /// One chunk for all where the variable is left contiguous.
  Shape chunk(const PolicyInput& input) const;
};

/// "NAME" or "NAME:SIZE"; of NCO also "nco-g3d" (with the map rd1, its default then) and "nco-g3d+lfp:SIZE". Throws
/// Error{usage} for an unknown name, with a suggestion, and for a size where none is taken.
Policy find_policy(std::string_view name);

/// Those every advice compares.
std::vector<Policy> default_policies();

/// One chunk for all: every length the extent, and at least 1.
Shape whole_array(const PolicyInput& input);

// The rules.
#define CHUNKWISE_POLICY(rule) Shape chunk_##rule(const PolicyInput& input, std::uint64_t bytes)
CHUNKWISE_POLICY(rew);
CHUNKWISE_POLICY(rew_ceil);
CHUNKWISE_POLICY(rew_nd);
CHUNKWISE_POLICY(nc4);
CHUNKWISE_POLICY(nc4_double);
CHUNKWISE_POLICY(nc4_432);
CHUNKWISE_POLICY(nc4_401);
CHUNKWISE_POLICY(h5py);
CHUNKWISE_POLICY(zarr);
CHUNKWISE_POLICY(zarr_shards);
CHUNKWISE_POLICY(dask);
CHUNKWISE_POLICY(nco_dmn);
CHUNKWISE_POLICY(nco_rd1);
CHUNKWISE_POLICY(nco_scl);
CHUNKWISE_POLICY(nco_prd);
CHUNKWISE_POLICY(nco_lfp);
CHUNKWISE_POLICY(nco_rew);
CHUNKWISE_POLICY(nco_xst);
CHUNKWISE_POLICY(pytables);
CHUNKWISE_POLICY(blosc2);
CHUNKWISE_POLICY(tensorstore);
CHUNKWISE_POLICY(tiledb);
CHUNKWISE_POLICY(scidb);
CHUNKWISE_POLICY(rechunkit);
CHUNKWISE_POLICY(neuroconv);
CHUNKWISE_POLICY(cmip7);
CHUNKWISE_POLICY(cmor);
CHUNKWISE_POLICY(one_per_time);
CHUNKWISE_POLICY(anemoi);
CHUNKWISE_POLICY(ss94);
CHUNKWISE_POLICY(otoo);
#undef CHUNKWISE_POLICY
Shape shard_zarr(const PolicyInput& input, const Shape& chunk);

/// Sizes of the caches that blosc2's rule depends on.
struct CacheSizes {
  std::uint64_t l1_bytes = 32 * 1024;
  std::uint64_t l2_bytes = 0;  // 0: unknown
  std::uint64_t l3_bytes = 0;
};
CacheSizes cache_sizes();
Shape chunk_blosc2_for(const PolicyInput& input, const CacheSizes& caches);

}  // namespace chunkwise
