// Plans that read the source as often as the memory makes necessary, once at best.
#pragma once

#include "codec/chain.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// Memory that a plan leaves for something else.
struct Reserve {
  CodecChain::ScratchNeed worker;  // the two buffers of each thread are shared, its codecs' own is not
  std::uint64_t largest_read_bytes = 0;
  std::uint64_t index_bytes = 0;
};

/// A thread's buffers grow to the largest of each that any array needs.
CodecChain::ScratchNeed largest(const CodecChain::ScratchNeed& a, const CodecChain::ScratchNeed& b);

/// As make_plan, without intermediate arrays.
Plan plan_passes(const std::vector<PlanInput>& arrays, const PlanRequest& request, const Reserve& reserve);

}  // namespace chunkwise
