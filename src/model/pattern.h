// Access patterns: which part of an array one read takes.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/axes.h"

namespace chunkwise {

/// A read of `extents` elements, `steps` apart, at a uniformly random place, as often as its weight says. Value type.
struct AccessPattern {
  std::string name;
  Shape extents;  // 1 <= extent <= array's
  double weight = 1;
  Shape steps = {};  // empty: 1 on every axis; (extent - 1) * step < array's extent

  Index step(int axis) const { return steps.rank() == 0 ? 1 : steps[axis]; }
};

/// An access as the user wrote it, not yet tied to an array. Value type.
struct AccessSpec {
  std::string name;
  bool is_preset = false;  // the name is a preset, lengths are empty
  AxisLengths lengths;
  double weight = 1;
};

struct PresetRow {
  std::string_view name;
  std::string_view summary;  // for --help
};
std::span<const PresetRow> preset_rows();

/// "NAME=dim/N,dim/N@WEIGHT", "PRESET" or "PRESET@WEIGHT". Throws Error{usage} with what would be right.
AccessSpec parse_access(std::string_view text);

/// time-series and map, equal weights.
std::vector<AccessSpec> default_accesses();

/// The pattern for an array without empty axes, or why there is none.
std::variant<AccessPattern, NotApplicable> bind(const AccessSpec& access, const Axes& axes);

/// The axis that stands for time: the one so named, else the one that grows, else the first.
int time_axis(const Axes& axes);

/// "time all, y 1, x 5 every 2".
std::string describe(const AccessPattern& pattern, const Axes& axes);

}  // namespace chunkwise
