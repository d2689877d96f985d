#include "app/timings.h"

#include <fmt/format.h>

#include "app/profiles.h"
#include "array/dtype.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

Timings read_timings(const TimingsRequest& request) {
  if (!request.shape) {
    throw Error(Code::usage, "--shape is required: the table says nothing of the array's extent",
                "for example --shape 98128,277,349 --dtype f4 --dims time,y,x");
  }
  const auto dtype = parse_dtype(request.dtype.empty() ? "f4" : request.dtype);
  if (!dtype || dtype->bytes == 0) {
    throw Error(Code::usage, fmt::format("no element type '{}'", request.dtype),
                suggest(request.dtype, {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}));
  }
  const auto n = checked_product(*request.shape);
  if (!n || *n == 0 || !checked_mul(*n, static_cast<Index>(dtype->bytes))) {
    throw Error(Code::usage, fmt::format("the shape {} has no elements, or too many", to_string(*request.shape)));
  }
  if (!request.dims.empty() && request.dims.size() != static_cast<std::size_t>(request.shape->rank())) {
    throw Error(Code::usage,
                fmt::format("{} dimension names for a shape of {} axes", request.dims.size(), request.shape->rank()),
                "give --dims one name per axis of --shape");
  }
  return parse_timings(read_text(request.table), *request.shape, request.dims, dtype->bytes);
}

PredictReport compare(const TimingsRequest& request, Timings timings, Device device) {
  PredictReport report;
  report.table = request.table;
  const std::optional<Client> client =
      request.client.empty() ? std::nullopt : std::optional(find_client(request.client));
  report.costs = predict(timings, device, client ? &*client : nullptr);
  report.by_pattern = accuracy_by_pattern(timings, report.costs);
  report.all = accuracy_of_all(timings, report.costs);
  report.timings = std::move(timings);
  report.device = std::move(device);
  return report;
}

}  // namespace

PredictReport predict_timings(const TimingsRequest& request) {
  const Device device = load_device(request.device);
  return compare(request, read_timings(request), device);
}

PredictReport calibrate_from_timings(const TimingsRequest& request, std::string out) {
  Timings timings = read_timings(request);
  const auto slash = request.table.rfind('/');
  std::string name = request.table.substr(slash == std::string::npos ? 0 : slash + 1);
  if (const auto dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  Device device = fit_device(timings, name);
  device.calibrated = today();
  if (out.empty()) out = saved_profile_path();
  if (out.empty()) throw Error(Code::usage, "there is no home folder to save the profile in", "give --out FILE");
  save_profile(out, profile_json(device));
  PredictReport report = compare(request, std::move(timings), std::move(device));
  report.saved_to = out;
  return report;
}

}  // namespace chunkwise
