// The fastest chunk shape for a set of accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/cost.h"
#include "model/pattern.h"

namespace chunkwise {

/// What a layout is judged by, over its accesses.
enum class Objective {
  weighted,  // sum of weight * seconds
  worst,     // seconds of the slowest access
  p95,       // seconds within which accesses of 95 % of the weight end
  cost,      // sum of weight * price of the requests and bytes
};

struct Goal {
  Objective objective = Objective::weighted;
  double price_per_request = 0;
  double price_per_byte = 0;

  double value(const Cost& cost) const;
  /// Of one value for each access.
  double combine(std::span<const double> values, std::span<const AccessPattern> patterns) const;
};

struct ObjectiveRow {
  std::string_view name;
  Objective objective;
};
std::span<const ObjectiveRow> objective_rows();

struct SearchLimits {
  /// Bytes of a decoded chunk. An array smaller than the minimum may become one chunk. Nothing: least_chunk_bytes().
  std::optional<std::uint64_t> min_chunk_bytes;
  std::uint64_t max_chunk_bytes = 16 * 1024 * 1024;
  /// Bytes of full chunks over bytes of the array; edges of growing axes do not count.
  double max_padding = 1.15;
  /// Axes that all accesses treat alike (y and x of a map) can trade lengths at nearly no cost, down to slivers that
  /// only suit just these accesses. So time counts 1 + evenness * (squared deviations of log2(chunk / extent) among
  /// them).
  double evenness = 0.02;
};

/// The minimum in force for an array of so many bytes: the one given, else 4 KiB (a page), raised up to 64 KiB as far
/// as needed to keep the array below 100,000 chunks. Never above the maximum.
std::uint64_t least_chunk_bytes(const SearchLimits& limits, double array_bytes);

struct SearchResult {
  Shape chunk;
  double objective = 0;        // as the goal counts, without the factor for evenness
  bool within_limits = true;   // false: no shape of the lattice meets them; this one comes near
  std::uint64_t n_priced = 0;  // candidates whose cost was computed
};

/// Minimises the goal, times the factor for evenness. `array.chunk` is ignored. `unlimited` has one
/// entry per axis. Deterministic; milliseconds at any rank. Throws Error{usage} if no chunk fits the limits (an element
/// above the maximum).
SearchResult search_chunks(const StoredArray& array, const std::vector<bool>& unlimited,
                           std::span<const AccessPattern> patterns, const Device& device, const SearchLimits& limits,
                           const Goal& goal = {});

/// Chunk lengths worth trying on an axis, ascending: 1, the whole, every ceil(length / k), powers of two, the accesses'
/// extents.
std::vector<Index> axis_lattice(Index length, std::span<const Index> extents);

}  // namespace chunkwise
