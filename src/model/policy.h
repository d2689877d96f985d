// Named rules in use that choose a chunk shape.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/shape.h"

namespace chunkwise {

struct PolicyInput {
  Shape shape;                  // rank >= 1; extents may be 0
  std::vector<bool> unlimited;  // one per axis
  std::size_t element_bytes = 1;
};

/// One rule. `bytes` is its size target; rules without one ignore it. Every length of the result is at
/// least 1 and at most the extent, except on axes that are empty or grow.
struct PolicyRow {
  std::string_view name;
  std::string_view summary;
  std::uint64_t default_bytes;  // 0: takes no size
  Shape (*chunk)(const PolicyInput& input, std::uint64_t bytes);
};
std::span<const PolicyRow> policy_rows();

/// A rule with its size: "rew:64KiB".
struct Policy {
  std::string name;  // as asked for
  const PolicyRow* row = nullptr;
  std::uint64_t bytes = 0;

  Shape chunk(const PolicyInput& input) const { return row->chunk(input, bytes); }
};

/// "NAME" or "NAME:SIZE". Throws Error{usage} for an unknown name, with a suggestion, and for a size where none is
/// taken.
Policy find_policy(std::string_view name);

/// Those every advice compares.
std::vector<Policy> default_policies();

// The rules, one file each.
Shape chunk_rew(const PolicyInput& input, std::uint64_t bytes);
Shape chunk_rew_nd(const PolicyInput& input, std::uint64_t bytes);
Shape chunk_nc4(const PolicyInput& input, std::uint64_t bytes);
Shape chunk_h5py(const PolicyInput& input, std::uint64_t bytes);
Shape chunk_zarr(const PolicyInput& input, std::uint64_t bytes);
Shape chunk_dask(const PolicyInput& input, std::uint64_t bytes);

}  // namespace chunkwise
