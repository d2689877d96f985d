// Whether what a rewrite will write fits the disks.
#pragma once

#include "app/prepare.h"
#include "app/rechunk.h"

namespace chunkwise {

/// What target and scratch file will take, and what is free. The target's size comes from a sample of encoded boxes
/// with `samples`, else it is what the elements take undecoded at most. Nothing where the target's folder is not there.
/// Writes nothing and needs no right to.
std::optional<DiskNeed> disk_need(const RechunkRequest& request, const Reader& reader, const PlannedRewrite& planned,
                                  bool samples);

/// Throws Error{io} with the numbers if even the least that the target may take is not there.
void require_space(const DiskNeed& need);

}  // namespace chunkwise
