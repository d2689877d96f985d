#include "model/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

constexpr std::array<PresetRow, 4> kPresets = {{
    {"time-series", "the whole time axis at one point"},
    {"map", "one whole horizontal slice: the last two axes, or lat/lon, y/x"},
    {"profile", "the whole vertical axis at one point and time"},
    {"full", "everything"},
}};

enum class Role { unknown, time, vertical, horizontal };

// Names in use by CF, COARDS, WRF, NEMO, ECMWF and CMIP data, in lower case.
constexpr auto kTimeNames = std::to_array<std::string_view>(
    {"t", "date", "dates", "datetime", "day", "hour", "month", "year", "valid_time", "init_time", "forecast_time",
     "reference_time", "forecast_reference_time", "analysis_time", "xtime", "ocean_time", "mtime"});
constexpr auto kVerticalNames = std::to_array<std::string_view>(
    {"z",      "lev",     "level",    "levels",   "plev",           "ilev",        "alev",       "depth",
     "deptht", "depthu",  "depthv",   "depthw",   "height",         "altitude",    "alt",        "layer",
     "sigma",  "hybrid",  "isobaric", "pressure", "pressure_level", "model_level", "bottom_top", "bottom_top_stag",
     "olevel", "nav_lev", "z_l",      "zlev",     "isobaricinhpa",  "st_ocean",    "s_rho",      "s_w"});
constexpr auto kHorizontalNames = std::to_array<std::string_view>({"lat",         "latitude",
                                                                   "y",           "yc",
                                                                   "rlat",        "yt",
                                                                   "yh",          "yq",
                                                                   "south_north", "south_north_stag",
                                                                   "j",           "nj",
                                                                   "nlat",        "grid_yt",
                                                                   "yt_ocean",    "eta_rho",
                                                                   "lon",         "longitude",
                                                                   "x",           "xc",
                                                                   "rlon",        "xt",
                                                                   "xh",          "xq",
                                                                   "west_east",   "west_east_stag",
                                                                   "i",           "ni",
                                                                   "nlon",        "grid_xt",
                                                                   "xt_ocean",    "xi_rho",
                                                                   "cell",        "ncell",
                                                                   "ncells",      "ncol",
                                                                   "node",        "nodes",
                                                                   "nod2",        "station",
                                                                   "stations",    "location",
                                                                   "point",       "points",
                                                                   "values"});

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Role role_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  if (name.rfind("time", 0) == 0 || contains(kTimeNames, name)) return Role::time;
  if (contains(kVerticalNames, name)) return Role::vertical;
  if (contains(kHorizontalNames, name)) return Role::horizontal;
  return Role::unknown;
}

std::vector<Role> roles_of(const Axes& axes) {
  std::vector<Role> roles;
  for (const auto& name : axes.names) roles.push_back(role_of(name));
  // The time axis is the one so named; else the one that grows; else the first, unless its name says otherwise.
  if (std::find(roles.begin(), roles.end(), Role::time) == roles.end() && !roles.empty()) {
    std::size_t axis = 0;
    while (axis < roles.size() && !(axes.unlimited[axis] && roles[axis] == Role::unknown)) ++axis;
    if (axis == roles.size()) axis = 0;
    if (roles[axis] == Role::unknown) roles[axis] = Role::time;
  }
  // Without named horizontal axes the last two that are neither time nor vertical stand for the map.
  if (std::find(roles.begin(), roles.end(), Role::horizontal) == roles.end()) {
    int missing = 2;
    for (auto role = roles.rbegin(); role != roles.rend() && missing > 0; ++role) {
      if (*role == Role::unknown) {
        *role = Role::horizontal;
        --missing;
      }
    }
  }
  return roles;
}

std::variant<Shape, NotApplicable> preset_extents(std::string_view preset, const Axes& axes) {
  if (preset == "full") return axes.shape;
  Role wanted = Role::time;
  std::string_view needs = "a time axis (time, t, valid_time, ..., or an unlimited dimension)";
  if (preset == "map") {
    wanted = Role::horizontal;
    needs = "horizontal axes (lat, lon, y, x, ..., or unnamed last axes)";
  } else if (preset == "profile") {
    wanted = Role::vertical;
    needs = "a vertical axis (lev, level, z, depth, plev, ...)";
  }
  const auto roles = roles_of(axes);
  Shape extents = Shape::filled(axes.rank(), 1);
  bool found = false;
  int kept = 0;
  for (int axis = axes.rank() - 1; axis >= 0; --axis) {
    if (roles[static_cast<std::size_t>(axis)] != wanted) continue;
    // One time or vertical axis, the first so named; two horizontal ones, the last so named.
    if (wanted != Role::horizontal) {
      extents = Shape::filled(axes.rank(), 1);
    } else if (kept++ == 2) {
      break;
    }
    extents[axis] = axes.shape[axis];
    found = true;
  }
  if (!found) {
    return NotApplicable{
        fmt::format("preset '{}' needs {}", preset, needs), "name the axes yourself: --access NAME=dim/N,dim/N", {}};
  }
  return extents;
}

double parse_weight(std::string_view text, std::string_view whole) {
  double weight = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(weight) ||
      weight <= 0) {
    throw Error(Code::usage, fmt::format("the weight '{}' in '{}' is not a number above 0", text, whole),
                "write for example map@2");
  }
  return weight;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& row : kPresets) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::span<const PresetRow> preset_rows() {
  return kPresets;
}

AccessSpec parse_access(std::string_view text) {
  AccessSpec access;
  std::string_view body = text;
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    access.weight = parse_weight(text.substr(at + 1), text);
    body = text.substr(0, at);
  }
  const auto equals = body.find('=');
  access.name = std::string(body.substr(0, equals));
  if (access.name.empty()) {
    throw Error(Code::usage, fmt::format("the access '{}' has no name", text), "write NAME=dim/N,dim/N or a preset");
  }
  if (equals != std::string_view::npos) {
    access.lengths = parse_axis_lengths(body.substr(equals + 1), true);
    return access;
  }
  if (access.name.find('/') != std::string::npos) {
    throw Error(Code::usage, fmt::format("the access '{}' has no name", text),
                fmt::format("write NAME={}, for example mine={}", body, body));
  }
  const auto names = preset_names();
  if (std::find(names.begin(), names.end(), access.name) == names.end()) {
    throw Error(Code::usage, fmt::format("no preset access '{}'", access.name), suggest(access.name, names));
  }
  access.is_preset = true;
  return access;
}

std::vector<AccessSpec> default_accesses() {
  return {parse_access("time-series"), parse_access("map")};
}

std::variant<AccessPattern, NotApplicable> bind(const AccessSpec& access, const Axes& axes) {
  auto extents = access.is_preset ? preset_extents(access.name, axes) : bind(access.lengths, axes, false);
  if (auto* no = std::get_if<NotApplicable>(&extents)) return std::move(*no);
  AccessPattern pattern{access.name, std::get<Shape>(extents), access.weight, {}};
  for (const auto& part : access.lengths.parts) {
    if (part.step == 1) continue;
    const int axis = *axes.find(part.dim);
    const Index most = (axes.shape[axis] - 1) / part.step + 1;
    if (!part.length) {
      pattern.extents[axis] = most;
    } else if (pattern.extents[axis] > most) {
      return NotApplicable{fmt::format("{} elements {} apart exceed the extent {} of dimension '{}'", *part.length,
                                       part.step, axes.shape[axis], axes.label(axis)),
                           fmt::format("use {}/all/{} for the whole dimension", part.dim, part.step),
                           {}};
    }
    if (pattern.steps.rank() == 0) pattern.steps = Shape::filled(axes.rank(), 1);
    pattern.steps[axis] = part.step;
  }
  return pattern;
}

int time_axis(const Axes& axes) {
  const auto roles = roles_of(axes);
  const auto found = std::find(roles.begin(), roles.end(), Role::time);
  return found == roles.end() ? 0 : static_cast<int>(found - roles.begin());
}

std::string describe(const AccessPattern& pattern, const Axes& axes) {
  const Shape& extents = pattern.extents;
  std::string text;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    const auto length = extents[axis] == axes.shape[axis] && extents[axis] > 1 ? "all" : std::to_string(extents[axis]);
    text += fmt::format("{}{} {}", axis == 0 ? "" : ", ", axes.label(axis), length);
    if (pattern.step(axis) > 1) text += fmt::format(" every {}", pattern.step(axis));
  }
  return text;
}

}  // namespace chunkwise
