#include "array/chunk_keys.h"

namespace chunkwise {

std::string ChunkKeys::key(const Shape& coords) const {
  std::string key = prefix;
  if (marked) key += 'c';
  if (coords.rank() == 0 && !marked) key += '0';
  for (int axis = 0; axis < coords.rank(); ++axis) {
    if (axis > 0 || marked) key += separator;
    key += std::to_string(coords[axis]);
  }
  return key;
}

}  // namespace chunkwise
