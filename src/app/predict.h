// How long a planned rewrite may take.
#pragma once

#include "report/rechunk_report.h"

namespace chunkwise {

/// Seconds for the plan: every source read decoded, every target chunk encoded, shared by the threads, at typical rates
/// of the codecs (encoding counted as twice decoding) plus two passes over memory. The disk is not counted.
double predict_seconds(const RechunkReport& report);

}  // namespace chunkwise
