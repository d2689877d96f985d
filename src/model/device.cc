#include "model/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

// Per-chunk client work of local readers: one HDF5 chunk call is 5-20 us. Copy: memory bandwidth of one core, 5-16
// GB/s.
constexpr double kChunk_s = 10e-6;
constexpr double kCopy_Bps = 5e9;

constexpr std::array<Device, 5> kDevices = {{
    // Access: half a turn at 7200 rpm (4.17 ms) + settling on a near track (0.8 ms); a full stroke of about 1 TB adds
    // 14 ms. Opening: one average seek (8.5 ms) + half a turn; the metadata then comes in one readahead window.
    // 120-220 MB/s from inner to outer tracks. Queueing helps at most 2-3 x and serial readers do not queue.
    {"hdd", "7200 rpm disk", 12.7e-3, 4.97e-3, 14.2e-3, 160e6, 160e6, 1, 5e-3, kChunk_s, kCopy_Bps, 3},
    // 80-200 us at queue depth 1, 450-560 MB/s. Opening: three dependent metadata reads.
    {"ssd", "SATA SSD", 0.3e-3, 100e-6, 0, 500e6, 500e6, 1, 130e-6, kChunk_s, kCopy_Bps, 2},
    // 60-100 us for a random 4 KiB read at queue depth 1, 3 GB/s and up. Opening: three dependent metadata reads.
    {"nvme", "NVMe SSD", 0.24e-3, 80e-6, 0, 3e9, 3e9, 1, 100e-6, kChunk_s, kCopy_Bps, 2},
    // Open at the metadata server and one OST round trip, 0.3-1 ms each; a cold read waits for a disk of the OST,
    // 5-15 ms; 0.5-2 GB/s per OST, one stripe.
    {"lustre", "Lustre, disk OSTs", 1.3e-3, 10e-3, 0, 1e9, 1e9, 1, 1e-3, kChunk_s, kCopy_Bps, 3},
    // First byte 20-100 ms in the region, 85-90 MB/s per connection; 16 in flight and 360 MB/s together fit published
    // read times of 87 layouts within 2 x in 85 % of cases. Opening: two dependent requests.
    {"s3", "object store, same region", 100e-3, 50e-3, 0, 90e6, 360e6, 16, 0, kChunk_s, kCopy_Bps, 2},
}};

}  // namespace

double Device::jump_s(double distance_bytes) const {
  const double seek = seek_s > 0 ? seek_s * std::sqrt(std::min(1.0, distance_bytes / 1e12)) : 0.0;
  return std::min(access_s + seek, distance_bytes / stream_Bps);
}

std::span<const Device> devices() {
  return kDevices;
}

const Device& find_device(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& device : kDevices) {
    if (device.name == name) return device;
    names.emplace_back(device.name);
  }
  throw Error(Code::usage, fmt::format("no device '{}'", name), suggest(std::string(name), names));
}

}  // namespace chunkwise
