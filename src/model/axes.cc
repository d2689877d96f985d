#include "model/axes.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

std::optional<Index> parse_index(std::string_view text) {
  Index value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Axes::label(int axis) const {
  const auto& name = names.at(static_cast<std::size_t>(axis));
  return name.empty() ? std::to_string(axis) : name;
}

std::vector<std::string> Axes::labels() const {
  std::vector<std::string> result;
  for (int axis = 0; axis < rank(); ++axis) result.push_back(label(axis));
  return result;
}

std::optional<int> Axes::find(std::string_view dim) const {
  for (int axis = 0; axis < rank(); ++axis) {
    if (!dim.empty() && names[static_cast<std::size_t>(axis)] == dim) return axis;
  }
  if (const auto number = parse_index(dim); number && *number >= 0 && *number < rank())
    return static_cast<int>(*number);
  return std::nullopt;
}

Axes axes_of(const ArrayMeta& meta) {
  Axes axes;
  axes.shape = meta.shape;
  axes.names = meta.dims;
  axes.names.resize(static_cast<std::size_t>(meta.shape.rank()));
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    axes.unlimited.push_back(axis < meta.max_shape.rank() && meta.max_shape[axis] == kUnlimited);
  }
  return axes;
}

AxisLengths parse_axis_lengths(std::string_view text, bool steps) {
  AxisLengths result;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    auto part = rest.substr(0, comma);
    Index step = 1;
    if (const auto last = part.rfind('/'); steps && last != std::string_view::npos && part.find('/') != last) {
      // "dim/N/STEP"; names of dimensions have no '/'.
      const auto parsed = parse_index(part.substr(last + 1));
      if (!parsed || *parsed < 1) {
        throw Error(Code::usage, fmt::format("the step in '{}' is not a whole number above 0", part),
                    "write dim/N/STEP, for example time/all/24");
      }
      step = *parsed;
      part = part.substr(0, last);
    }
    const auto slash = part.rfind('/');
    if (slash == std::string_view::npos || slash == 0) {
      throw Error(Code::usage,
                  part == text ? fmt::format("'{}' is not of the form dim/N", text)
                               : fmt::format("'{}' in '{}' is not of the form dim/N", part, text),
                  "write for example time/1 or time/all");
    }
    const auto dim = part.substr(0, slash);
    const auto count = part.substr(slash + 1);
    std::optional<Index> length;
    if (count != "all") {
      length = parse_index(count);
      if (!length || *length < 1) {
        throw Error(Code::usage, fmt::format("the length in '{}' is not a whole number above 0", part),
                    "write dim/N with N >= 1, or dim/all");
      }
    }
    for (const auto& earlier : result.parts) {
      if (earlier.dim == dim) throw Error(Code::usage, fmt::format("'{}' names the axis '{}' twice", text, dim));
    }
    result.parts.push_back({std::string(dim), length, step});
    if (comma == std::string_view::npos) return result;
    rest = rest.substr(comma + 1);
  }
}

std::variant<Shape, NotApplicable> bind(const AxisLengths& lengths, const Axes& axes, bool clamp) {
  Shape result = axes.shape;
  std::vector<bool> seen(static_cast<std::size_t>(axes.rank()));
  for (const auto& part : lengths.parts) {
    const auto axis = axes.find(part.dim);
    if (!axis)
      return NotApplicable{fmt::format("no dimension '{}'", part.dim), suggest(part.dim, axes.labels()), part.dim};
    if (seen[static_cast<std::size_t>(*axis)])
      return NotApplicable{fmt::format("the axis '{}' is given twice", part.dim), {}, {}};
    seen[static_cast<std::size_t>(*axis)] = true;
    if (!part.length) continue;
    if (*part.length > axes.shape[*axis] && !clamp) {
      return NotApplicable{fmt::format("{}/{} exceeds the extent {} of dimension '{}'", part.dim, *part.length,
                                       axes.shape[*axis], axes.label(*axis)),
                           fmt::format("use {}/all for the whole dimension", part.dim),
                           {}};
    }
    result[*axis] = std::min(*part.length, axes.shape[*axis]);
  }
  return result;
}

}  // namespace chunkwise
