// An array between source and target, for rewrites whose target chunks need more of the source than the memory holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "codec/chain.h"
#include "grid/cut_grid.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// The source is read by tiles of whole source chunks, each chunk once, and stored cut where those tiles and the
/// target's meet. From there the target's tiles are made, each box read once. Neither stage touches anything twice,
/// whatever the grids.
struct IntermediatePlan {
  /// The target's elements, in its byte order and in C order; absent elements read as the source's do.
  ArrayMeta meta;
  CutGrid boxes;
  /// Of the first stage, from the source into `meta`.
  ArrayPlan fill;
  /// Pairs of tiles of the two stages that share elements. Large meetings are cut into several boxes.
  Index n_meetings = 0;
  /// On disk: expected where the source's codecs tell how well its elements pack, else at most.
  std::uint64_t scratch_bytes = 0;
  /// Memory to keep track of the boxes.
  std::uint64_t index_bytes = 0;
};

/// Of a box: large enough that requests do not show, small enough for every thread to hold two.
inline constexpr std::uint64_t kBox_bytes = 256u << 10;

struct IntermediateRequest {
  const ArrayMeta& source;
  const ArrayMeta& target;
  std::uint64_t room_bytes = 0;        // for tiles of either stage
  std::uint64_t most_block_bytes = 0;  // shards of the target that are open
  std::uint64_t most_index_bytes = 0;
  int n_threads = 1;
  std::uint64_t free_bytes = ~std::uint64_t{0};  // on the disk: boxes are packed where they would not fit else
  std::uint64_t most_box_bytes = kBox_bytes;
};

/// Makes `plan`, which is one of passes over the source, one that goes through an intermediate, with as few boxes as
/// the memory allows and the codec that is cheapest. False, with `plan` as it was, if no two tiles fit. Pure.
bool go_through_intermediate(const IntermediateRequest& request, ArrayPlan& plan);

/// What a thread needs beyond the codecs of source and target, and the largest box as it is read.
struct BoxNeeds {
  CodecChain::ScratchNeed worker;
  std::uint64_t largest_read_bytes = 0;
};
BoxNeeds needs_of_boxes(std::size_t element_bytes);

}  // namespace chunkwise
