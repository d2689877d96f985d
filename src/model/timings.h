// Measured reads of one array in several layouts, and what a device's constants make of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/axes.h"
#include "model/cost.h"

namespace chunkwise {

/// One read as it was measured. Value type; lengths in the order of the axes.
struct Timing {
  std::string pattern;
  Shape start;
  Shape count;
  std::optional<Shape> chunk;  // nothing: contiguous
  std::vector<int> order;      // axes from the slowest to the fastest, as stored
  std::string codec;           // "shuffle,deflate:4"; empty: unknown
  std::string device;
  std::string store;        // "file", "objects" (each chunk one); empty: unknown
  std::string client;       // as find_client() takes it; empty: unknown
  double stored_bytes = 0;  // of the whole array; 0: unknown
  double wall_s = 0;
};

struct Timings {
  Axes axes;
  std::size_t element_bytes = 1;
  std::vector<Timing> rows;

  bool has_contiguous() const;
  /// Names of the patterns, in order of appearance.
  std::vector<std::string> patterns() const;
};

/// A table in CSV whose header has `pattern`, `wall_s` and for every dimension `start_D`, `n_D` and `chunk_D`, in axis
/// order; optional `layout` (chunked, contiguous), `order` ("y x time"), `codec`, `device`, `store` (file,
/// objects), `client`, `stored_bytes`. `dims` may be empty: then the header names them. Throws Error{usage} with the
/// line and the right names.
Timings parse_timings(std::string_view text, const Shape& shape, const std::vector<std::string>& dims,
                      std::size_t element_bytes);

/// A row as the model sees it: the array as stored, and what the read touches.
struct TimedRead {
  StoredArray array;
  AccessPattern pattern;
  std::vector<AxisTouch> axes;
  double chunk_elements = 1;
};
/// `many_objects`: a chunk is an object of its own, where the row does not say.
TimedRead timed_read(const Timings& timings, const Timing& row, bool many_objects);

/// The cost of every row, in order. `client` reads all of them; null: each row's own, else the one the device's
/// constants are of, else the usual one for the store. Chunks count as objects of their own where the device keeps
/// several requests in flight and no row is contiguous.
std::vector<Cost> predict(const Timings& timings, const Device& device, const Client* client = nullptr);

/// A device whose constants fit the rows: open, per chunk, per decoded byte, per byte of the longest of a device's
/// rounds; with contiguous rows also access, reading over gaps, and the window that small chunks share. Non-negative,
/// robust (soft L1 of log ratios). Throws Error{usage} for fewer rows than constants.
Device fit_device(const Timings& timings, std::string name);

/// How well predictions meet measurements.
struct Accuracy {
  std::string pattern;  // empty: all
  std::size_t n = 0;
  double median_ape = 0;   // of |predicted - measured| / measured
  double p95_ape = 0;      // linear between order statistics
  double within_1_5x = 0;  // share of rows
  double kendall_tau = 0;  // tau-b over the pattern's rows; of all: the median over patterns
  double regret = 1;       // measured time of the layout predicted fastest over the fastest measured; of all: below
};
std::vector<Accuracy> accuracy_by_pattern(const Timings& timings, const std::vector<Cost>& costs);
/// Over all rows. Regret: of the layout with the least predicted sum over the patterns, among those measured in all.
Accuracy accuracy_of_all(const Timings& timings, const std::vector<Cost>& costs);

/// Tau-b of two equally long lists; 0 where one does not vary.
double kendall_tau(const std::vector<double>& a, const std::vector<double>& b);
/// Linear between order statistics, q in [0, 1]; 0 of nothing.
double quantile(std::vector<double> values, double q);

}  // namespace chunkwise
