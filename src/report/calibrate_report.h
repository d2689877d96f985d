// What was measured of a machine, and the constants that came of it.
#pragma once

#include <string>

#include "model/device.h"
#include "store/device_probe.h"

namespace chunkwise {

/// Plain data.
struct CalibrateReport {
  std::string folder;
  DeviceProbe probe;
  Device device;
  std::string saved_to;
};

/// 80 columns: the probes, the constants with their intervals.
std::string calibrate_text(const CalibrateReport& report);

/// Schema "chunkadvise-calibrate/1": the probes; the profile is in the file.
std::string calibrate_json(const CalibrateReport& report);

/// The constants that were measured or fitted, as a table of 80 columns.
std::string constants_text(const Device& device);

}  // namespace chunkwise
