// The chunk shapes a search looks at, and the limits they keep.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/cost.h"
#include "model/device.h"
#include "model/pattern.h"

namespace chunkwise {

struct SearchLimits {
  /// Bytes of a decoded chunk. An array smaller than the minimum may become one chunk. Nothing: least_chunk_bytes().
  std::optional<std::uint64_t> min_chunk_bytes;
  std::uint64_t max_chunk_bytes = 16 * 1024 * 1024;
  /// Where every chunk, or every shard, is an object of its own: how many there may be.
  std::optional<std::uint64_t> max_objects;
  /// What a client may hold of an array at one time, see client_bytes().
  std::optional<std::uint64_t> max_client_bytes;
  /// Bytes of full chunks over bytes of the array; edges of growing axes do not count.
  double max_padding = 1.15;
  /// Axes that all accesses treat alike (y and x of a map) can trade lengths at nearly no cost, down to slivers that
  /// only suit just these accesses. So time counts 1 + evenness * (squared deviations of log2(chunk / extent) among
  /// them).
  double evenness = 0.02;
  /// False: a coarser walk and no proof, several times as fast; for answers beside the main one.
  bool thorough = true;
};

/// The minimum in force for an array of so many bytes: the one given, else 4 KiB (a page), raised up to 64 KiB as far
/// as needed to keep the array below 100,000 chunks. Never above the maximum.
std::uint64_t least_chunk_bytes(const SearchLimits& limits, double array_bytes);

/// What the usual client holds of chunks while it reads: as many as it has requests in flight, each as stored and
/// decoded.
double client_bytes(const StoredArray& array, double chunk_bytes, const Device& device);

/// The greatest chunk in force: the limit on chunks, or what the client's memory allows. Throws Error{budget} with the
/// least memory if not even one element fits that.
std::uint64_t greatest_chunk_bytes(const SearchLimits& limits, const StoredArray& array, const Device& device);

/// Chunk lengths worth trying on an axis, ascending: 1, the whole, every ceil(length / k), powers of two, the accesses'
/// extents.
std::vector<Index> axis_lattice(Index length, std::span<const Index> extents);

}  // namespace chunkwise
