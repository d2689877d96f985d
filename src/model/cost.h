// The time of one read: geometry -> requests -> seconds.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/decode.h"
#include "model/device.h"
#include "model/geometry.h"
#include "model/pattern.h"

namespace chunkwise {

/// Where chunks are.
enum class Placement {
  one_file,    // in row-major order in one file, found through a B-tree
  one_object,  // each chunk an object of its own
};

/// How an array is stored, as far as time is concerned. Value type.
struct StoredArray {
  Shape shape;  // no empty axis
  std::size_t element_bytes = 1;
  std::optional<Shape> chunk;  // nothing: contiguous
  Placement placement = Placement::one_file;
  /// With one_object: objects hold whole chunks each, of this shape together, behind an index. Not for shapes that a
  /// search tries: those are priced as if such objects held them.
  std::optional<Shape> shard;
  bool pads_edges = true;   // edge chunks take full size on disk
  double stored_ratio = 1;  // bytes on disk per byte before encoding
  DecodeCost decode;
};

/// What a read asks of the storage; expectations over places.
struct Requests {
  double chunks = 0;    // 1 for a contiguous array
  double requests = 0;  // for data, neighbours merged
  double bytes = 0;     // data read from storage
  double decoded_bytes = 0;
  double useful_bytes = 0;
  double index_reads = 0;  // nodes of the chunk index, or indexes of shards
  double jumps_s = 0;      // from each request to the next, one after the other
};

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
  CostTerms terms;

  /// The largest term, in words: "98,128 separate reads of 4 B", "reading 1.2 GiB", "decoding 3.1 GiB".
  std::string dominating() const;
};

/// T = open + index + device + chunks * per_chunk + decoded / rate + useful / copy rate, where
/// device = max(requests in rounds of in_flight, bytes / total rate).
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
  CostTerms terms(std::span<const AxisTouch> axes, double chunk_elements, Requests& requests) const;

  StoredArray array_;
  const Device* device_;
  double useful_bytes_ = 0;
  double shards_ = 0;  // touched
  double shard_elements_ = 0;
};

/// Expected touches of a contiguous array (units are elements) or of chunks.
std::vector<AxisTouch> touch_axes(const StoredArray& array, const AccessPattern& pattern);

}  // namespace chunkwise
