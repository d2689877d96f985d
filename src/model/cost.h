// The time of one read: geometry -> trace of requests -> seconds.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/device.h"
#include "model/pattern.h"
#include "model/trace.h"

namespace chunkwise {

/// The terms of the time, in seconds. They add up.
struct CostTerms {
  double open_s = 0;
  double index_s = 0;
  double device_s = 0;
  double chunks_s = 0;
  double decode_s = 0;
  double copy_s = 0;
  double sum_s() const { return open_s + index_s + device_s + chunks_s + decode_s + copy_s; }
  double largest_s() const { return std::max({open_s, index_s, device_s, chunks_s, decode_s, copy_s}); }
};

struct Cost {
  double seconds = 0;
  double seconds_low = 0;
  double seconds_high = 0;
  Requests requests;
  double jumps_s = 0;  // from each request to the next, one after the other
  CostTerms terms;

  /// The largest term, in words: "98,128 separate reads of 4 B", "reading 1.2 GiB", "decoding 3.1 GiB".
  std::string dominating() const;
};

/// The time law: seconds of a trace on a device.
/// T = open + index + device + chunks * per_chunk + decoded / rate + useful / copy rate, where
/// device = max(requests in rounds of in_flight, bytes / total rate); a client with several requests under way waits
/// for the device only as far as its own work per chunk does not take longer.
Cost price_trace(const Trace& trace, const StoredArray& array, const Device& device);

/// price_trace() of trace_read().
Cost price(const StoredArray& array, const Shape& extents, const Device& device);
Cost price(const StoredArray& array, const AccessPattern& pattern, const Device& device);

/// Bytes one layout takes: edge padding counts where it is stored as it is; compressed padding is taken for nothing.
double stored_size_bytes(const StoredArray& array);

/// price() for a search over chunk shapes: everything that does not depend on the chunk is computed once.
class Pricer {
 public:
  Pricer(const StoredArray& array, const AccessPattern& pattern, const Device& device);

  /// `axes` are touch_axis() of this array, chunk and extents.
  Cost price(std::span<const AxisTouch> axes, double chunk_elements) const;
  double seconds(std::span<const AxisTouch> axes, double chunk_elements) const;
  /// Seconds, requests and bytes that no chunk shape goes below if it touches at least so many chunks, with at least so
  /// many elements in them, full ones at the edges counted. Cheap. For branch and bound.
  Cost least(double chunks, double elements) const;

 private:
  StoredArray array_;
  const Device* device_;
  TraceBase base_;
};

/// Expected touches of a contiguous array (units are elements) or of chunks.
std::vector<AxisTouch> touch_axes(const StoredArray& array, const AccessPattern& pattern);

}  // namespace chunkwise
