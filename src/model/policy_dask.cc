// dask's chunks="auto" for an array without stored chunks: a cube of the size limit; axes shorter than its edge are
// taken whole and the cube is computed again for the others.
#include <algorithm>
#include <cmath>

#include "model/policy.h"

namespace chunkwise {

Shape chunk_dask(const PolicyInput& input, std::uint64_t bytes) {
  Shape chunk = input.shape;
  std::vector<int> open;  // axes without a length yet
  for (int axis = 0; axis < input.shape.rank(); ++axis) open.push_back(axis);
  double whole_elements = 1;
  while (!open.empty()) {
    const double elements = static_cast<double>(bytes) / static_cast<double>(input.element_bytes) / whole_elements;
    const double edge = std::pow(elements, 1.0 / static_cast<double>(open.size()));
    const auto is_short = [&](int axis) { return static_cast<double>(input.shape[axis]) < edge; };
    if (std::none_of(open.begin(), open.end(), is_short)) {
      for (const int axis : open) {
        chunk[axis] = std::max<Index>(1, std::min(input.shape[axis], static_cast<Index>(edge)));
      }
      break;
    }
    for (const int axis : open) {
      if (is_short(axis)) whole_elements *= static_cast<double>(std::max<Index>(1, input.shape[axis]));
    }
    std::erase_if(open, is_short);
  }
  for (Index& length : chunk) length = std::max<Index>(1, length);
  return chunk;
}

}  // namespace chunkwise
