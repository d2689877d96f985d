// A rewrite that changes nothing.
#pragma once

#include <stop_token>

#include "app/rechunk.h"
#include "format/registry.h"

namespace chunkwise {

/// True if the request leaves everything as it is, so that the target is the source byte for byte. Not for directories,
/// nor for files that keep elements in other files. `-c keep` asks for more: a file written anew, object by object.
bool changes_nothing(const RechunkRequest& request, const Hierarchy& source, const FormatRow& to);

/// Carries it out and completes `report`, whose formats are set. Throws what rechunk() throws.
void copy_as_is(const RechunkRequest& request, const Hierarchy& source, const RechunkObserver& observer,
                const std::stop_token& stop, RechunkReport& report);

}  // namespace chunkwise
