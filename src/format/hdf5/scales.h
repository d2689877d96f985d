// Dimension scales: how HDF5 and netCDF-4 name the axes of datasets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/hdf5/attributes.h"
#include "format/hdf5/file.h"

namespace chunkwise::hdf5 {

/// How the NAME of a dataset starts that only stands for a netCDF dimension; its length follows in ten columns.
inline constexpr std::string_view kDimensionOnly = "This is a netCDF dimension but not a netCDF variable.";
/// Before the name of a variable that is called like a dimension but is not its coordinate variable.
inline constexpr std::string_view kNonCoordinatePrefix = "_nc4_non_coord_";

/// What a dataset says about its axes.
struct AxisBooks {
  bool is_scale = false;
  bool is_dimension_only = false;
  std::optional<int> dimension_id;  // _Netcdf4Dimid
  std::vector<int> coordinates;     // _Netcdf4Coordinates
  std::vector<haddr_t> scales;      // per axis the first attached scale, HADDR_UNDEF if none; empty: no DIMENSION_LIST
  std::vector<std::string> labels;  // DIMENSION_LABELS
};

/// Reads the books of the datasets of one file.
class AxisReader {
 public:
  AxisReader(const Lock& lock, const File& file) : lock_(lock), file_(file) {}
  /// What there is among the `attributes` of a dataset. References that lead nowhere count as none; other damage throws
  /// Error{corrupt}.
  AxisBooks read(hid_t dataset, int rank, const std::vector<AttributeEntry>& attributes);

 private:
  std::vector<haddr_t> dimension_list(hid_t dataset, int rank);
  haddr_t led_to(hobj_ref_t reference);

  const Lock& lock_;
  const File& file_;
  std::unordered_map<hobj_ref_t, haddr_t> led_to_;  // thousands of variables have the same few scales
};

/// Where an open object lies in its file: the same for all its names.
haddr_t object_address(const Lock& lock, hid_t object);
/// Where a reference leads, HADDR_UNDEF if nowhere.
haddr_t referenced_address(const Lock& lock, hid_t file, const hobj_ref_t& reference);

/// True if netCDF-C wrote the dataset, as its own hidden attributes tell. Before 4.4.1 it left no mark of its own, but
/// always kept the order of creation, the root group's first of all, and described dimensions by scales.
bool has_netcdf_marks(const Lock& lock, hid_t dataset, bool root_is_ordered);

/// Makes `dataset` a scale called `name`.
void write_scale(const Lock& lock, hid_t dataset, const std::string& name);
/// Writes DIMENSION_LIST: a scale (path in `file`) per axis, "" for none.
void write_dimension_list(const Lock& lock, hid_t file, hid_t dataset, const std::vector<std::string>& scale_paths);
/// One use of a scale: axis `axis` of the dataset at `path`.
struct ScaleUse {
  std::string path;
  int axis = 0;
};
void write_reference_list(const Lock& lock, hid_t file, hid_t scale, const std::vector<ScaleUse>& uses);
/// Writes a hidden integer attribute: a scalar if `is_scalar`, else a list.
void write_ids(const Lock& lock, hid_t object, const char* name, const std::vector<int>& ids, bool is_scalar);

}  // namespace chunkwise::hdf5
