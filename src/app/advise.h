// The advisor's story: a request in, a report out. Reads metadata and, of compressed variables, some chunks to learn
// sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "array/meta.h"
#include "model/search.h"
#include "report/advise_report.h"

namespace chunkwise {

/// Plain data; texts as the command line takes them.
struct AdviseRequest {
  /// A dataset; or empty, and `shape` with `dtype` (and `dims`) describe an array that does not exist yet.
  std::string path;
  std::optional<Shape> shape;
  std::string dtype;
  std::vector<std::string> dims;

  std::vector<std::string> variables;         // paths or names; empty: all of at least two dimensions
  std::vector<std::string> accesses;          // empty: time-series and map
  std::string access_log;                     // a file; its requests join `accesses`, with their numbers as weights
  std::string device;                         // empty: the default one
  std::string client;                         // who reads; empty: whom the device is calibrated for, or the usual one
  std::vector<std::string> candidates;        // "time/92,y/9,x/11", "92,9,11" or "contiguous"
  std::string to;                             // format to advise for; empty: the file's, or one file without a file
  std::vector<std::string> codec_candidates;  // chains to compare with the variable's own, "shuffle,deflate:1,zstd:3"
  /// Decoded bytes of each compressed variable to encode again for sizes; 0: none. Nothing: some, where that is quick.
  std::optional<std::uint64_t> sample_bytes;
  std::vector<std::string> policies;  // empty: those of default_policies()
  std::optional<std::size_t> top;     // keep only the fastest so many policies
  SearchLimits limits;
  std::string objective;              // empty: weighted
  double price_per_request = 0.4e-6;  // of the objective `cost`; typical of object stores, in dollars
  double price_per_byte = 0;
  bool round_up = false;  // rew rounds its ideal lengths up
  /// List the chunks of stores that keep each as an object, however many there are; otherwise some are looked at.
  bool count_exactly = false;
};

/// Throws Error{usage} for anything in the request that names nothing, with the right names; what opening throws.
AdviseReport advise(const AdviseRequest& request);

/// The chunk shape recommended for one array with the default accesses and device: for `rechunk -c auto`. An array of
/// fewer than two axes or without elements keeps its own. What advise() recommends for a file whose chunks, or shards,
/// are objects of their own, or not.
Shape recommended_chunk(const ArrayMeta& meta, bool in_objects);

/// "98128,277,349" -> a shape. Throws Error{usage}.
Shape parse_shape(const std::string& text);

}  // namespace chunkwise
