// What netCDF-C notes in the Zarr v2 stores it writes (NCZarr).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/hierarchy.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr2 {

/// True for names that NCZarr keeps to itself among attributes and metadata members.
bool is_nczarr_name(std::string_view name);
/// What NCZarr says otherwise than others: characters have the type "<U1" but one byte each, a scalar has one element
/// on one axis. `meta` is as its .zarray says.
void correct_nczarr(const Json& zarray, const Json& zattrs, ArrayMeta& meta);
/// The dimension names of an array from its .zarray or .zattrs; nothing if NCZarr did not write it.
std::optional<std::vector<std::string>> nczarr_dims(const Json& zarray, const Json& zattrs, int rank);
/// The dimensions of a group from its .zgroup or .zattrs.
std::vector<Dimension> nczarr_dimensions(const Json& zgroup, const Json& zattrs);
/// The types of attributes, as hints (docs/zarr-hints.md); null if there are none.
Json nczarr_attribute_hints(const Json& zattrs);

}  // namespace chunkwise::zarr2
