// What netCDF-C notes in the Zarr v2 stores it writes (NCZarr).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/hierarchy.h"
#include "base/json_fwd.h"

namespace chunkwise::zarr2 {

/// True for names that NCZarr keeps to itself among attributes and metadata members.
bool is_nczarr_name(std::string_view name);
/// netCDF-C 4.8.0 kept its notes in objects of their own; each is read as a member of the document beside it.
struct NczarrObject {
  std::string_view name;
  std::string_view beside;  // ".zarray"
  std::string_view member;
};
std::span<const NczarrObject> nczarr_objects();
/// True if NCZarr wrote the array.
bool is_nczarr_array(const Json& zarray, const Json& zattrs);
/// What NCZarr wrote as Zarr would have it: characters are "|S1" (they are stored in a byte each, whatever is said),
/// scalars have no axis, and the fill values of netCDF have all their digits, not six.
Json plain_zarray(const Json& zarray, const Json& zattrs);
/// Gives netCDF's default fill value of floats all its digits, of which netCDF-C writes six; other values stay.
void restore_default_fill(Json& value);
/// The dimension names of an array from its .zarray or .zattrs; nothing if NCZarr did not write it.
std::optional<std::vector<std::string>> nczarr_dims(const Json& zarray, const Json& zattrs, int rank);
/// The dimensions of a group from its .zgroup or .zattrs.
std::vector<Dimension> nczarr_dimensions(const Json& zgroup, const Json& zattrs);
/// The names of a group's arrays and groups, in the order of their creation.
struct NczarrMembers {
  std::vector<std::string> arrays;
  std::vector<std::string> groups;
};
NczarrMembers nczarr_members(const Json& zgroup, const Json& zattrs);
/// The types of attributes, as hints (docs/zarr-hints.md); null if there are none.
Json nczarr_attribute_hints(const Json& zattrs);

}  // namespace chunkwise::zarr2
