// Object references inside attribute values.
#pragma once

#include <functional>

#include "format/hdf5/handle.h"

namespace chunkwise::hdf5 {

/// True if values of the type hold references, at any depth.
bool holds_references(const Lock& lock, hid_t type);

/// What becomes of one reference.
enum class Kept { yes, no };
/// Gets a reference and may change it. The answer counts only in lists of references (see below).
using ReferenceVisitor = std::function<Kept(hobj_ref_t&)>;

/// Visits every object reference in `n` values of `type` at `data`, in compounds, arrays and lists too. From a
/// variable-length list of references those not kept are removed. Throws Error{unsupported} for region references.
void visit_references(const Lock& lock, hid_t type, std::byte* data, std::size_t n, const ReferenceVisitor& visit);

}  // namespace chunkwise::hdf5
