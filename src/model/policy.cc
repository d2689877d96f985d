#include "model/policy.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

constexpr std::array<PolicyRow, 6> kPolicies = {{
    {"rew", "balanced between a series and a map (Rew 2013, as published)", 4 * kKiB, chunk_rew},
    {"rew-nd", "the same idea with the exponent that balances at any rank", 4 * kKiB, chunk_rew_nd},
    {"nc4", "netCDF-C's default where it must chunk (autotools builds 4 MiB, CMake builds 16 MiB)", 4 * kMiB,
     chunk_nc4},
    {"h5py", "h5py chunks=True", 0, chunk_h5py},
    {"zarr", "zarr-python chunks='auto'", 0, chunk_zarr},
    {"dask", "dask chunks='auto' without stored chunks", 128 * kMiB, chunk_dask},
}};

constexpr std::array<std::string_view, 13> kCompared = {
    "rew:4KiB",    "rew:8KiB", "rew:16KiB", "rew:64KiB", "rew:1MiB", "rew:4MiB", "rew:16MiB",
    "rew-nd:1MiB", "nc4",      "nc4:16MiB", "h5py",      "zarr",     "dask"};

}  // namespace

std::span<const PolicyRow> policy_rows() {
  return kPolicies;
}

Policy find_policy(std::string_view name) {
  const auto colon = name.find(':');
  const auto family = name.substr(0, colon);
  std::vector<std::string> names;
  for (const auto& row : kPolicies) {
    names.emplace_back(row.name);
    if (row.name != family) continue;
    if (colon == std::string_view::npos) return {std::string(name), &row, row.default_bytes};
    if (row.default_bytes == 0) {
      throw Error(Code::usage, fmt::format("the policy '{}' takes no size", family), fmt::format("write {}", family));
    }
    const auto bytes = parse_bytes(name.substr(colon + 1));
    if (bytes == 0) throw Error(Code::usage, fmt::format("the policy '{}' needs a size above 0", name));
    return {std::string(name), &row, bytes};
  }
  throw Error(Code::usage, fmt::format("no policy '{}'", family), suggest(std::string(family), names));
}

std::vector<Policy> default_policies() {
  std::vector<Policy> policies;
  for (const auto name : kCompared) policies.push_back(find_policy(name));
  return policies;
}

}  // namespace chunkwise
