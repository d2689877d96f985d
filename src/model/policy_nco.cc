// The chunking maps of NCO (ncks --cnk_map), as its code does them. The manual differs in places.
#include <algorithm>
#include <array>
#include <cmath>

#include "model/policy.h"

namespace chunkwise {
namespace {

bool grows(const PolicyInput& input, int axis) {
  return input.unlimited[static_cast<std::size_t>(axis)];
}

double elements_of(const PolicyInput& input, std::uint64_t bytes) {
  return std::max(1.0, std::floor(static_cast<double>(bytes) / static_cast<double>(input.element_bytes)));
}

}  // namespace

Shape chunk_nco_dmn(const PolicyInput& input, std::uint64_t) {
  return whole_array(input);
}

Shape chunk_nco_rd1(const PolicyInput& input, std::uint64_t) {
  Shape chunk = whole_array(input);
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    if (grows(input, axis)) chunk[axis] = 1;
  }
  return chunk;
}

Shape chunk_nco_scl(const PolicyInput& input, std::uint64_t bytes) {
  Shape chunk = whole_array(input);
  const double most = elements_of(input, bytes);
  for (Index& length : chunk) length = static_cast<Index>(std::min(static_cast<double>(length), most));
  return chunk;
}

Shape chunk_nco_prd(const PolicyInput& input, std::uint64_t bytes) {
  Shape chunk = whole_array(input);
  const double edge = std::ceil(std::pow(elements_of(input, bytes), 1.0 / chunk.rank()));
  for (Index& length : chunk) length = static_cast<Index>(std::min(static_cast<double>(length), edge));
  return chunk;
}

Shape chunk_nco_lfp(const PolicyInput& input, std::uint64_t bytes) {
  Shape chunk = whole_array(input);
  int n_left = 0;  // axes up to and including the last that grows
  for (int axis = 0; axis < chunk.rank(); ++axis) {
    if (grows(input, axis)) n_left = axis + 1;
  }
  if (n_left == 0) return chunk;
  double elements = elements_of(input, bytes);
  for (int axis = n_left; axis < chunk.rank(); ++axis) elements /= static_cast<double>(chunk[axis]);
  const double edge = std::max(1.0, std::floor(std::pow(elements, 1.0 / n_left)));
  for (int axis = 0; axis < n_left; ++axis) {
    chunk[axis] = static_cast<Index>(grows(input, axis) ? edge : std::min(static_cast<double>(chunk[axis]), edge));
    if (grows(input, axis) && input.shape[axis] > 0) chunk[axis] = std::min(chunk[axis], input.shape[axis]);
  }
  return chunk;
}

Shape chunk_nco_rew(const PolicyInput& input, std::uint64_t bytes) {
  return input.shape.rank() == 3 ? chunk_rew(input, bytes) : chunk_nco_lfp(input, bytes);
}

Shape chunk_nco_xst(const PolicyInput& input, std::uint64_t) {
  return input.stored ? *input.stored : whole_array(input);
}

std::span<const NcoVariables> nco_variables() {
  static constexpr auto kRows = std::to_array<NcoVariables>({
      {"all", "NCO policy all: every variable", [](const PolicyInput&) { return true; }},
      {"g2d", "NCO policy g2d: two or more axes", [](const PolicyInput& input) { return input.shape.rank() >= 2; }},
      {"g3d", "NCO policy g3d: three or more axes", [](const PolicyInput& input) { return input.shape.rank() >= 3; }},
      {"l2d", "NCO policy l2d: at most two axes", [](const PolicyInput& input) { return input.shape.rank() <= 2; }},
      {"xst", "NCO policy xst: what is chunked already",
       [](const PolicyInput& input) { return input.stored.has_value(); }},
      {"uck", "NCO policy uck: only what must be chunked", [](const PolicyInput&) { return false; }},
      {"r1d", "NCO policy r1d: as all, for files whose records have one axis", [](const PolicyInput&) { return true; }},
  });
  return kRows;
}

}  // namespace chunkwise
