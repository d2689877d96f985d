// A profile of this machine, measured.
#pragma once

#include <string>

#include "report/calibrate_report.h"

namespace chunkwise {

/// Probes the device under `folder` and the decoding of this machine, and saves the profile at `out`; empty: as the
/// profile of this machine. Takes about `budget_s`. Throws Error{io}, Error{usage} without a place to save it.
CalibrateReport calibrate(const std::string& folder, std::string out, double budget_s);

}  // namespace chunkwise
