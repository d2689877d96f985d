#include "format/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/bytes.h"
#include "base/error.h"
#include "format/hdf5/format.h"
#include "format/netcdf3/format.h"
#include "format/zarr2/format.h"
#include "format/zarr3/format.h"
#include "store/open_store.h"
#include "store/store.h"
#include "store/zip_store.h"

namespace chunkwise {
namespace {

constexpr std::array<FormatRow, 5> kFormats = {{
    {"nc4", "netCDF-4", ".nc .nc4 .cdf .netcdf", false, false, "", hdf5::probe, hdf5::open, hdf5::describe,
     hdf5::adapt_nc4, hdf5::check, hdf5::create_nc4, hdf5::resume_nc4},
    {"h5", "HDF5", ".h5 .hdf5 .he5 .hdf", false, false, "", hdf5::probe, hdf5::open, hdf5::describe, hdf5::adapt_h5,
     hdf5::check, hdf5::create_h5, hdf5::resume_h5},
    {"nc3", "netCDF-3 (classic: CDF-1, CDF-2, CDF-5)", ".nc3 .nc .cdf .netcdf", false, false, "nc4", netcdf3::probe,
     netcdf3::open, nullptr, netcdf3::adapt, netcdf3::check, netcdf3::create, netcdf3::resume},
    {"zarr2", "Zarr v2 in a directory or zip file", ".zarr2", true, false, "", zarr2::probe, zarr2::open,
     zarr2::describe, zarr2::adapt, zarr2::check, zarr2::create, zarr2::resume},
    {"zarr3", "Zarr v3 in a directory or zip file", ".zarr .zarr3 .zip", true, true, "", zarr3::probe, zarr3::open,
     zarr3::describe, zarr3::adapt, zarr3::check, zarr3::create, zarr3::resume},
}};

bool lists_word(std::string_view words, std::string_view wanted) {
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == wanted) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const FormatRow> format_rows() {
  return kFormats;
}

std::vector<std::string> format_libraries() {
  return {hdf5::library_version()};
}

const FormatRow* find_format(std::string_view name) {
  for (const FormatRow& row : kFormats)
    if (row.name == name) return &row;
  return nullptr;
}

namespace {

/// Formats that are recognised but cannot be read, by their first bytes.
void refuse_known_others(const Object& object, const std::string& path) {
  std::array<std::byte, 4> start{};
  if (object.size_bytes() < start.size()) return;
  object.read(0, start);
  const std::string_view magic = as_text(start);
  if (magic == "GRIB") throw Error(Code::unsupported, "GRIB files are not supported").in(path);
}

}  // namespace

const FormatRow& detect_format(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error && status.type() != std::filesystem::file_type::not_found)
    throw Error(Code::io, fmt::format("cannot look at the file: {}", error.message())).in(path);
  if (!std::filesystem::exists(status)) throw Error(Code::not_found, "no such file").in(path);
  const bool is_directory = std::filesystem::is_directory(status);
  // Opened here once, so that a file the system refuses is not taken for one of another format.
  const std::unique_ptr<Object> object = is_directory ? nullptr : open_file_object(path);
  const bool is_zip = object != nullptr && is_zip_file(path);
  for (const FormatRow& row : kFormats)
    if (row.is_directory == (is_directory || is_zip) && row.probe(path)) return row;
  if (is_zip)
    throw Error(Code::not_found, "not a dataset: the zip file holds no .zgroup, .zarray or zarr.json at its root")
        .in(path);
  if (object != nullptr) refuse_known_others(*object, path);
  if (is_directory) {
    // What the system does not show is not missing.
    const std::unique_ptr<Store> store = open_directory_store(path);
    static_cast<void>(store->list(""));
    static_cast<void>(store->size_bytes("zarr.json"));
  }
  if (is_directory)
    throw Error(Code::not_found, "not a dataset: the directory holds no .zgroup, .zarray or zarr.json").in(path);
  throw Error(Code::not_found, "not a dataset: the file is neither HDF5, netCDF nor a zip file").in(path);
}

Hierarchy describe(const FormatRow& row, const std::string& path) {
  return row.describe != nullptr ? row.describe(path) : row.open(path)->tree();
}

bool has_suffix_of(const FormatRow& row, const std::string& path) {
  std::string_view trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.remove_suffix(1);
  const auto names_it = [&](const std::filesystem::path& name) {
    std::string suffix = name.extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return !suffix.empty() && lists_word(row.suffixes, suffix);
  };
  const std::filesystem::path name(trimmed);
  return names_it(name) || (row.is_directory && has_zip_name(path) && names_it(name.stem()));
}

bool makes_directory(const FormatRow& row, const std::string& path) {
  return row.is_directory && !has_zip_name(path);
}

const FormatRow* format_by_suffix(const std::string& path) {
  // "x.zarr2.zip" is of the format that its inner suffix names.
  if (has_zip_name(path)) {
    const FormatRow* const inner = format_by_suffix(path.substr(0, path.size() - std::string_view(".zip").size()));
    if (inner != nullptr && inner->is_directory) return inner;
  }
  for (const FormatRow& row : kFormats)
    if (has_suffix_of(row, path)) return &row;
  return nullptr;
}

}  // namespace chunkwise
