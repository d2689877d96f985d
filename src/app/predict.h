// How long a planned rewrite may take.
#pragma once

#include "report/rechunk_report.h"

namespace chunkwise {

/// Enters what the plan is expected to take on the device that chunkadvise takes when it knows none: of every array the
/// price by which its way was chosen, see rechunk/price.h.
void predict(RechunkReport& report);

}  // namespace chunkwise
