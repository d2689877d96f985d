// What a client asks of the storage for one read, in counts and bytes; no seconds. Between geometry and the time law.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "model/client.h"
#include "model/decode.h"
#include "model/geometry.h"

namespace chunkwise {

/// Where chunks are.
enum class Placement {
  one_file,    // in row-major order in one file, found through an index
  one_object,  // each chunk an object of its own
};

/// Of find_client(): who reads such arrays where nobody says.
std::string usual_client(Placement placement);

/// How an array is stored, and what reads it. Value type.
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
  int n_growing_axes = 0;
  /// What reads it; it must outlive this. Null: plain.
  const Client* client = nullptr;
};

/// What a read asks of the storage; expectations over places.
struct Requests {
  double chunks = 0;    // 1 for a contiguous array
  double calls = 0;     // requests for data as the client makes them, one after the other
  double requests = 0;  // those of them that do not continue the one before
  double bytes = 0;     // data asked for
  double decoded_bytes = 0;
  double useful_bytes = 0;
  double index_reads = 0;  // nodes of the chunk index, or indexes of shards
  double index_bytes = 0;
};

struct Trace : Requests {
  struct Jump {
    double count = 0;
    double distance_bytes = 0;  // from the end of one request to the begin of the next
  };
  static constexpr std::size_t kMostJumps = kMaxRank * (kMaxRank + 3) / 2 + 2;

  double metadata_reads = 0;  // places on the device until the array is known
  double objects = 0;         // opened for data
  double index_distance_bytes = 0;
  double in_flight = 1;  // requests that the client has under way
  std::size_t n_jumps = 0;
  std::array<Jump, kMostJumps> jumps;  // NOLINT: only the first n_jumps are set

  Trace() {}  // NOLINT: jumps stay unset
  void add_jump(double count, double distance_bytes) { jumps[n_jumps++] = {count, distance_bytes}; }
};

/// What does not depend on the chunk.
struct TraceBase {
  double useful_bytes = 0;
  double shards = 0;  // touched
  double shard_elements = 0;
};

/// `axes` are touch_axis() or touch_axis_at() of the array's axes, of chunks, or of elements (chunk 1) for a contiguous
/// one.
void trace_read(const StoredArray& array, const TraceBase& base, std::span<const AxisTouch> axes, double chunk_elements,
                Trace& trace);

/// Requests of HDF5's sieve buffer for the wanted elements of a contiguous array, exact: one for each run of elements
/// that does not lie in the `sieve_bytes` read last. Above a million requests the rest is extrapolated.
struct SieveReads {
  double requests = 0;
  double bytes = 0;
  double distance_bytes = 0;  // mean, from one to the next
};
SieveReads sieve_reads(std::span<const AxisTouch> axes, std::size_t element_bytes, double sieve_bytes);

/// Requests for the wanted elements of chunks that are read piece by piece: runs inside each of the chunks. Exact.
double runs_in_chunks(std::span<const AxisTouch> axes);

}  // namespace chunkwise
