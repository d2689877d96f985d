#include "model/stored_size.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"

namespace chunkwise {
namespace {

// HDF5's B-tree of version 1: nodes hold up to 64 chunks, about 50 where chunks were appended.
constexpr double kNodeEntries = 64;
constexpr double kUsedEntries = 50;
// A shard's index: offset and length of each chunk, and a checksum.
constexpr double kShardEntry_bytes = 16;
constexpr double kChecksum_bytes = 4;

double count(const Shape& shape, const Shape& unit) {
  double n = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) n *= static_cast<double>(ceil_div(shape[axis], unit[axis]));
  return n;
}

}  // namespace

double padding_bytes(const StoredArray& array) {
  StoredArray clipped = array;
  clipped.pads_edges = false;
  return std::max(0.0, stored_size_bytes(array) - stored_size_bytes(clipped));
}

double index_bytes(const StoredArray& array) {
  if (!array.chunk) return 0;
  const double n_chunks = count(array.shape, *array.chunk);
  if (array.placement == Placement::one_object) {
    if (!array.shard) return 0;
    const double n_shards = count(array.shape, *array.shard);
    return n_shards * (kShardEntry_bytes * count(*array.shard, *array.chunk) + kChecksum_bytes);
  }
  const double key_bytes = 8 + 8.0 * (array.shape.rank() + 1);
  const double node_bytes = 24 + (kNodeEntries + 1) * key_bytes + kNodeEntries * 8;
  double n_nodes = 0;
  for (double level = n_chunks; n_nodes == 0 || level > 1;) {
    level = std::ceil(level / kUsedEntries);
    n_nodes += level;
  }
  return n_nodes * node_bytes;
}

}  // namespace chunkwise
