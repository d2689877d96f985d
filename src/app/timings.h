// Tables of measured reads: predicted beside measured, and profiles fitted to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grid/shape.h"
#include "report/predict_report.h"

namespace chunkwise {

/// A CSV file and the array it is about. Plain data.
struct TimingsRequest {
  std::string table;
  std::optional<Shape> shape;
  std::string dtype;              // empty: f4
  std::vector<std::string> dims;  // empty: as the table's header has them
  std::string client;             // empty: each row's own, else whom the device is calibrated for, or the usual one
  std::string device;             // as load_device() takes it
};

/// Throws Error{usage} for anything that does not fit together, what reading the files throws.
PredictReport predict_timings(const TimingsRequest& request);

/// Fits a profile to the table and saves it at `out`; empty: as the profile of this machine. The report compares the
/// fit with its own table.
PredictReport calibrate_from_timings(const TimingsRequest& request, std::string out);

}  // namespace chunkwise
