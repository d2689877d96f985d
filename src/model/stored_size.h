// What one layout takes on disk besides the data itself.
#pragma once

#include "model/cost.h"

namespace chunkwise {

/// Full edge chunks stored as they are; compressed padding is taken for nothing.
double padding_bytes(const StoredArray& array);

/// The index of the chunks: nodes of a file's B-tree, or the index of every shard. Objects of their own need none.
double index_bytes(const StoredArray& array);

}  // namespace chunkwise
