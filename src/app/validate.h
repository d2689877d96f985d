// Candidate layouts written, read cold, and set beside what the model says.
#pragma once

#include <string>

#include "app/advise.h"
#include "report/validate_report.h"

namespace chunkwise {

struct ValidateRequest {
  /// The file, one variable, accesses, candidates, policies and device. The client is always our own reader.
  AdviseRequest advice;
  double budget_s = 60;  // of reading
  std::string scratch;   // a folder for the layouts; empty: beside the file
  std::size_t max_layouts = 5;
};

/// Writes the layouts into a folder of its own under `scratch`, removed at the end, and reads them in random order at
/// random places, each read with a cache that was emptied and looked at. Throws Error{usage} without exactly one
/// variable, Error{io} where the layouts do not fit, Error{unsupported} where the cache cannot be emptied, what
/// advise() and rechunk() throw.
ValidateReport validate(const ValidateRequest& request);

}  // namespace chunkwise
