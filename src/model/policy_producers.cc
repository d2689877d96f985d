// Rules of those who publish data: most cut along time only.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "model/policy.h"

namespace chunkwise {
namespace {

Axes axes_of(const PolicyInput& input) {
  Axes axes;
  axes.shape = input.shape;
  axes.unlimited = input.unlimited;
  axes.names = input.names;
  axes.names.resize(static_cast<std::size_t>(input.shape.rank()));
  return axes;
}

/// Whole slices along the time axis, as many as fit, at least one.
Shape slices(const PolicyInput& input, int axis, std::uint64_t bytes) {
  Shape chunk = whole_array(input);
  double slice_bytes = static_cast<double>(input.element_bytes);
  for (int other = 0; other < chunk.rank(); ++other) {
    if (other != axis) slice_bytes *= static_cast<double>(chunk[other]);
  }
  const double n = std::max(1.0, std::floor(static_cast<double>(bytes) / slice_bytes));
  chunk[axis] = static_cast<Index>(std::min(n, static_cast<double>(chunk[axis])));
  return chunk;
}

bool is_ensemble(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return name.rfind("ensemble", 0) == 0 || name == "ens" || name == "member" || name == "members" ||
         name == "realization" || name == "number";
}

}  // namespace

// cmip7repack changes the leading axis only.
Shape chunk_cmip7(const PolicyInput& input, std::uint64_t bytes) {
  return slices(input, 0, bytes);
}

// CMOR: whole slices; where one is above the size, netCDF's own lengths inside it.
Shape chunk_cmor(const PolicyInput& input, std::uint64_t bytes) {
  const int time = time_axis(axes_of(input));
  const Shape chunk = slices(input, time, bytes);
  double chunk_bytes = static_cast<double>(input.element_bytes);
  for (const Index length : chunk) chunk_bytes *= static_cast<double>(length);
  if (chunk_bytes <= static_cast<double>(bytes) || chunk.rank() == 1) return chunk;
  PolicyInput growing = input;
  growing.unlimited.assign(growing.unlimited.size(), false);
  growing.unlimited[static_cast<std::size_t>(time)] = true;
  return chunk_nc4(growing, 4 * 1024 * 1024);
}

Shape chunk_one_per_time(const PolicyInput& input, std::uint64_t) {
  Shape chunk = whole_array(input);
  chunk[time_axis(axes_of(input))] = 1;
  return chunk;
}

// Anemoi: (dates, variables, ensembles, values), or (base_dates, steps, variables, ensembles, values).
Shape chunk_anemoi(const PolicyInput& input, std::uint64_t) {
  Shape chunk = whole_array(input);
  const int rank = chunk.rank();
  chunk[0] = 1;
  if (rank == 5) chunk[1] = 1;
  bool named = false;
  for (int axis = 1; axis < rank && !input.names.empty(); ++axis) {
    if (!is_ensemble(input.names[static_cast<std::size_t>(axis)])) continue;
    chunk[axis] = 1;
    named = true;
  }
  const bool any_name =
      std::any_of(input.names.begin(), input.names.end(), [](const std::string& name) { return !name.empty(); });
  if (!named && !any_name && rank >= 4) chunk[rank - 2] = 1;
  return chunk;
}

}  // namespace chunkwise
