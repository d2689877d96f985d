// Devices: what one request costs there, each constant with its interval and where it is from.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chunkwise {

/// A figure, the interval that most devices or measurements fall into, and its source. Reads as its value.
struct Constant {
  double value = 0;
  double low = 0;
  double high = 0;
  std::string source;

  // NOLINTNEXTLINE: a figure in formulas
  operator double() const { return value; }
};

/// Times in seconds, rates in bytes per second; an infinite rate means that the term does not count. Value type.
struct Device {
  std::string name;
  std::string summary;
  std::string calibrated;  // the day it was measured; empty: typical values
  std::string client;      // whose time the constants hold, see client.h; empty: nobody's
  /// Once per read: from the path to the array's metadata.
  Constant open_s;
  /// One request that does not continue the one before, without the way there.
  Constant access_s;
  /// Added to access_s for the way: seek_s * sqrt(distance / 1e12 bytes), at most seek_s. 0 where distance is free.
  Constant seek_s;
  /// Above 0: every chunk is a request of its own, and those smaller than this share one access with neighbours:
  /// access_s * min(1, chunk / window). 0: neighbours in row-major order merge into one request.
  Constant window_bytes;
  /// One request's bytes.
  Constant stream_Bps;
  /// Reading over a gap instead of beginning anew.
  Constant pass_Bps;
  /// All requests in flight together.
  Constant total_Bps;
  /// What a run of requests that follow each other gets of the kernel's readahead: the first readahead_bytes come at
  /// stream_Bps, the rest at sequential_Bps; if the run is of several requests, it takes readahead_s until it flows.
  Constant sequential_Bps;
  Constant readahead_bytes;
  Constant readahead_s;
  /// Requests that the device serves at the same time; of a profile for plain clients: that the client keeps in flight.
  Constant in_flight;
  /// Added per chunk where every chunk is an object of its own: open, look up.
  Constant object_s;
  /// Share of the reads of the chunk index that cost time; 0 where they are counted elsewhere.
  Constant index_share;
  /// The client's own work per chunk: call, look-up, cache.
  Constant chunk_s;
  /// Decoded bytes, whatever the codecs. 0: the typical rates of the codecs.
  Constant decode_Bps;
  /// Decoding against the typical rates of the codecs, where decode_Bps is 0.
  Constant codec_speed;
  /// The same of deflate alone: readers use zlib, whose speed differs from other codecs' by machine.
  Constant deflate_speed;
  /// The clients' own work against the typical, see client.h.
  Constant client_speed;
  /// Copying wanted elements out of decoded chunks.
  Constant copy_Bps;
  /// A prediction t means t / error_factor .. t * error_factor.
  Constant error_factor;

  /// Time to begin a request `distance_bytes` behind the end of the one before: a new access, or reading over the gap.
  double jump_s(double distance_bytes) const;
  /// Bytes of `runs` of neighbours, equally long, of so many requests together.
  double stream_s(double bytes, double runs, double calls) const;
};

/// The constants of a device by name, as profiles have them.
struct ConstantRow {
  std::string_view name;
  std::string_view unit;
  Constant Device::*member;
  std::string_view meaning;
  /// Profiles without it were written before it existed: then it is this one, or 0 without one.
  bool is_new = false;
  Constant Device::*fallback = nullptr;
};
std::span<const ConstantRow> constant_rows();

inline constexpr std::string_view kDefaultDevice = "ssd";

std::span<const Device> devices();
/// Throws Error{usage} with a suggestion.
const Device& find_device(std::string_view name);

/// A profile as JSON, schema "chunkwise-profile/1", with `more` (a JSON object: machine, fit) merged in where given.
std::string profile_json(const Device& device, std::string_view more = {});
/// Reads one. `where` names the file in errors: Error{usage} for a newer schema, an unknown or missing constant and
/// values outside their sense; Error{corrupt} if it is no JSON.
Device parse_profile(std::string_view text, std::string_view where);

}  // namespace chunkwise
