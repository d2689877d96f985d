// Devices by name: what one request costs there.
#pragma once

#include <span>
#include <string_view>

namespace chunkwise {

/// Typical values, not measured here. Times in seconds, rates in bytes per second.
struct Device {
  std::string_view name;
  std::string_view summary;
  /// Once per read: from the path to the array's metadata.
  double open_s;
  /// One request that does not continue the one before, without the way there.
  double access_s;
  /// Added to access_s for the way: seek_s * sqrt(distance / 1e12 bytes), at most seek_s. 0 where distance is free.
  double seek_s;
  /// One request's bytes; reading over a gap.
  double stream_Bps;
  /// All requests in flight together.
  double total_Bps;
  /// Requests the usual client keeps in flight.
  int in_flight;
  /// Added per chunk where every chunk is an object of its own: open, look up.
  double object_s;
  /// The client's own work per chunk: call, look-up, cache.
  double chunk_s;
  /// Copying wanted elements out of decoded chunks.
  double copy_Bps;
  /// A prediction t means t / error_factor .. t * error_factor.
  double error_factor;

  /// Time to begin a request `distance_bytes` behind the end of the one before: a new access, or reading over the gap.
  double jump_s(double distance_bytes) const;
};

inline constexpr std::string_view kDefaultDevice = "ssd";

std::span<const Device> devices();
/// Throws Error{usage} with a suggestion.
const Device& find_device(std::string_view name);

}  // namespace chunkwise
