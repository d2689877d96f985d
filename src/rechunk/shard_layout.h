// The shards of one array, as the user asked for them.
#pragma once

#include <string>
#include <vector>

#include "array/meta.h"
#include "rechunk/chunk_spec.h"

namespace chunkwise {

/// Sets meta.shards for the chunks that meta has by now. Without a spec that speaks of them they stay as in `before`;
/// around chunks whose lengths nobody gave (-c auto, -c 4MiB) as near to it as whole chunks allow. Appends to `notes`
/// as apply_layout does. Throws Error{usage} for shards that are not whole chunks: with the axis and with lengths that
/// would do.
void set_shards(const std::vector<const ChunkSpec*>& specs, bool chunk_lengths_given, const ArrayMeta& before,
                ArrayMeta& meta, std::vector<std::string>& notes);

}  // namespace chunkwise
