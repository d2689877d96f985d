// A table of timings beside what a device's constants make of it, in two forms.
#pragma once

#include <string>
#include <vector>

#include "model/timings.h"

namespace chunkwise {

/// Plain data.
struct PredictReport {
  std::string table;  // the CSV file
  Timings timings;
  Device device;
  std::string saved_to;     // calibrate: where the profile is now; else empty
  std::vector<Cost> costs;  // one per row
  std::vector<Accuracy> by_pattern;
  Accuracy all;
};

/// 80 columns: the figures, by pattern and over all; with saved_to also the constants.
std::string predict_text(const PredictReport& report);

/// Schema "chunkadvise-predict/1".
std::string predict_json(const PredictReport& report);

}  // namespace chunkwise
