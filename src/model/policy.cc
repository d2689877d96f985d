#include "model/policy.h"

#include <fmt/format.h>
#include <algorithm>

#include <array>

#include "base/error.h"
#include "base/sizes.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

constexpr auto kPolicies = std::to_array<PolicyRow>({
    {"rew", "balanced between a series and a map (Rew 2013, as published)", 4 * kKiB, chunk_rew},
    {"rew-ceil", "the same, rounded up (rew with --round ceil)", 4 * kKiB, chunk_rew_ceil},
    {"rew-nd", "the same idea with the exponent that balances at any rank", 4 * kKiB, chunk_rew_nd},
    {"nc4", "netCDF-C 4.4.1 to 4.9.2 where it must chunk (autotools builds 4 MiB, CMake 16 MiB)", 4 * kMiB, chunk_nc4},
    {"nc4-4.9.3", "netCDF-C from 4.9.3 on: the same in double precision", 16 * kMiB, chunk_nc4_double},
    {"nc4-4.3.2", "netCDF-C 4.3.2: no cap for one growing axis", 4 * kMiB, chunk_nc4_432},
    {"nc4-4.0.1", "netCDF-C 4.0.1: axes whole, halved or capped by their length", 0, chunk_nc4_401},
    {"nco-dmn", "NCO map dmn: the whole array", 0, chunk_nco_dmn},
    {"nco-rd1", "NCO map rd1: one record", 0, chunk_nco_rd1},
    {"nco-scl", "NCO map scl: SIZE in elements along every axis", 4 * kMiB, chunk_nco_scl},
    {"nco-prd", "NCO map prd: a cube of SIZE", 4 * kMiB, chunk_nco_prd},
    {"nco-lfp", "NCO map lfp: fixed axes behind the record whole, the others share SIZE", 4 * kMiB, chunk_nco_lfp},
    {"nco-rew", "NCO map rew (and nco): rew for three axes, else lfp", 4 * kMiB, chunk_nco_rew},
    {"nco-map-xst", "NCO map xst: the chunks there are", 0, chunk_nco_xst},
    {"h5py", "h5py chunks=True", 0, chunk_h5py},
    {"zarr", "zarr-python chunks='auto'", 0, chunk_zarr},
    {"zarr-shards", "zarr-python 3 chunks='auto' shards='auto'", 0, chunk_zarr_shards, shard_zarr},
    {"dask", "dask chunks='auto' without stored chunks", 128 * kMiB, chunk_dask},
    {"pytables", "PyTables arrays", 0, chunk_pytables},
    {"blosc2", "python-blosc2 with this machine's caches", 0, chunk_blosc2},
    {"tensorstore", "TensorStore: a cube of 1,048,576 elements", 0, chunk_tensorstore},
    {"tiledb", "TileDB's advice: tiles like the heaviest access, of 64 KB or more", 64000, chunk_tiledb},
    {"scidb", "SciDB: 1,000,000 cells, split evenly", 0, chunk_scidb},
    {"cmip7", "cmip7repack: whole slices up to 4 MiB, at least one", 4 * kMiB, chunk_cmip7},
    {"cmor", "CMOR 3.14: whole slices up to 4 MB, else netCDF's default of one", 4000000, chunk_cmor},
    {"anemoi", "Anemoi datasets: one date, one ensemble member", 0, chunk_anemoi},
    {"weatherbench", "WeatherBench 2: one time, everything else whole", 0, chunk_one_per_time},
    {"arco", "ARCO-ERA5: one time, everything else whole", 0, chunk_one_per_time},
    {"rechunkit", "rechunkit: highly composite lengths near 2 MiB", 2 * kMiB, chunk_rechunkit},
    {"neuroconv", "NeuroConv and HDMF: 10 MB in the array's proportions", 10000000, chunk_neuroconv},
    {"ss94", "Sarawagi and Stonebraker 1994: fewest pages for the accesses", 8 * kKiB, chunk_ss94},
    {"otoo", "Otoo, Rotem, Seshadri 2007: fewest expected chunks for the accesses", 1 * kMiB, chunk_otoo},
});

constexpr auto kCompared = std::to_array<std::string_view>(
    {"rew:4KiB",  "rew:8KiB", "rew:16KiB",    "rew:64KiB", "rew:1MiB",  "rew:4MiB", "rew:16MiB", "rew-nd:1MiB", "nc4",
     "nc4:16MiB", "h5py",     "zarr",         "dask",      "nco-lfp",   "pytables", "blosc2",    "tensorstore", "scidb",
     "cmip7",     "cmor",     "weatherbench", "rechunkit", "neuroconv", "ss94",     "otoo"});

}  // namespace

std::span<const PolicyRow> policy_rows() {
  return kPolicies;
}

Policy find_policy(std::string_view name) {
  // "nco-g3d+lfp:64KiB" is the map lfp for some variables.
  for (const auto& variables : nco_variables()) {
    const std::string prefix = fmt::format("nco-{}", variables.name);
    if (name.substr(0, prefix.size()) != prefix) continue;
    const auto rest = name.substr(prefix.size());
    if (!rest.empty() && rest[0] != '+') continue;
    const std::string_view map = rest.empty() ? "rd1" : rest.substr(1);
    Policy policy = find_policy(fmt::format("nco-{}{}", map == "xst" ? "map-" : "", map));
    policy.name = std::string(name);
    policy.variables = &variables;
    return policy;
  }
  const auto colon = name.find(':');
  const auto family = name.substr(0, colon);
  std::vector<std::string> names;
  for (const auto& variables : nco_variables()) names.push_back(fmt::format("nco-{}", variables.name));
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

Shape Policy::chunk(const PolicyInput& input) const {
  const bool grows = std::find(input.unlimited.begin(), input.unlimited.end(), true) != input.unlimited.end();
  const bool chunks = variables == nullptr || grows || variables->chunks(input);
  return chunks ? row->chunk(input, bytes) : whole_array(input);
}

std::vector<Policy> default_policies() {
  std::vector<Policy> policies;
  for (const auto name : kCompared) policies.push_back(find_policy(name));
  return policies;
}

Shape whole_array(const PolicyInput& input) {
  Shape chunk = input.shape;
  for (Index& length : chunk) length = std::max<Index>(1, length);
  return chunk;
}

}  // namespace chunkwise
