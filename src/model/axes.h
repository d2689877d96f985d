// What the advisor knows about an array's axes, and lengths along them as users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "array/meta.h"
#include "grid/shape.h"

namespace chunkwise {

/// Value type; names and unlimited have one entry per axis.
struct Axes {
  Shape shape;
  std::vector<std::string> names;  // "" where an axis has none
  std::vector<bool> unlimited;

  int rank() const { return shape.rank(); }
  /// The axis' name, or its number where it has none.
  std::string label(int axis) const;
  std::vector<std::string> labels() const;
  /// By name, else by 0-based number; nothing if there is no such axis.
  std::optional<int> find(std::string_view dim) const;
};

Axes axes_of(const ArrayMeta& meta);

/// "time/516,y/20": a length on some axes. Value type, not yet tied to an array.
struct AxisLengths {
  struct Part {
    std::string dim;
    std::optional<Index> length;  // nothing: the whole axis
    Index step = 1;               // of accesses: elements taken are so far apart
  };
  std::vector<Part> parts;
};

/// Why something written for one array makes no sense for another.
struct NotApplicable {
  std::string why;
  std::string hint;
  std::string unknown_dim;  // the name that no axis has, if that is why
};

/// Throws Error{usage} quoting the part that is wrong: no '/', length not a whole number above 0, an axis twice. With
/// `steps` a part may be dim/N/STEP.
AxisLengths parse_axis_lengths(std::string_view text, bool steps = false);

/// A length per axis; axes not named are whole. Lengths above the extent are clamped if `clamp`, else NotApplicable.
std::variant<Shape, NotApplicable> bind(const AxisLengths& lengths, const Axes& axes, bool clamp);

}  // namespace chunkwise
