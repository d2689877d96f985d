#include "model/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/suggest.h"

namespace chunkwise {
namespace {

struct Figure {
  double value, low, high;
  const char* source;
};

// Most constants are alike on most devices.
constexpr Figure kFree = {0, 0, 0, "does not apply"};
constexpr Figure kSerial = {1, 1, 4, "one arm; queues help by 2 to 3 x"};
constexpr Figure kAsStream = {0, 0, 0, "as stream_Bps"};
constexpr Figure kQueue = {8, 4, 32, "throughput grows up to 32 requests; clients ask for 10"};
constexpr Figure kChunkCall = {10e-6, 5e-6, 20e-6, "one HDF5 chunk read call, 5-20 us"};
constexpr Figure kMemoryCopy = {5e9, 5e9, 16e9, "memory bandwidth of one core, 5-16 GB/s"};
constexpr Figure kAllIndexReads = {1, 0.5, 1, "nodes of the chunk index are read cold"};
constexpr Figure kNeighboursMerge = {0, 0, 0, "neighbours in row-major order are read together"};
constexpr Figure kByCodec = {0, 0, 0, "typical rates of the codecs (lzbench)"};
constexpr Figure kTypicalSpeed = {1, 0.5, 2, "machines differ by about 2 x"};
constexpr Figure kDiskRate = {160e6, 110e6, 220e6,
                              "120-220 MB/s on outer tracks, half of it on inner ones; serial readers"};
constexpr Figure kSataRate = {500e6, 450e6, 560e6, "SATA-3, 450-560 MB/s"};
constexpr Figure kNvmeRate = {3e9, 3e9, 14e9, "3-14 GB/s"};
constexpr Figure kOstRate = {1e9, 0.5e9, 2e9, "0.5-2 GB/s per OST, one stripe"};
constexpr Figure kConnectionRate = {90e6, 50e6, 90e6, "one connection, 50-90 MB/s"};

/// Figures in the order of constant_rows().
struct Typical {
  const char* name;
  const char* summary;
  std::array<Figure, 20> figures;
};

constexpr std::array<Typical, 5> kTypical = {{
    {"hdd",
     "7200 rpm disk",
     {{{12.7e-3, 8e-3, 20e-3, "an average seek (8.5 ms) and half a turn; the rest is in one readahead window"},
       {4.97e-3, 4.97e-3, 8e-3, "half a turn at 7200 rpm (4.17 ms) and settling on a near track (0.8 ms)"},
       {14.2e-3, 8e-3, 15e-3, "a full stroke of about 1 TB, 8-15 ms"},
       kNeighboursMerge,
       kDiskRate,
       kDiskRate,
       kDiskRate,
       kSerial,
       {5e-3, 2e-3, 15e-3, "one access for the directory entry"},
       kAllIndexReads,
       kChunkCall,
       kByCodec,
       kTypicalSpeed,
       kTypicalSpeed,
       kTypicalSpeed,
       kMemoryCopy,
       {3, 1.3, 3, "published tables are met within 1.3 to 3"},
       kAsStream,
       kFree,
       kFree}}},
    {"ssd",
     "SATA SSD",
     {{{0.3e-3, 0.2e-3, 0.6e-3, "three dependent reads of metadata"},
       {100e-6, 80e-6, 200e-6, "random read at queue depth 1, 80-200 us"},
       kFree,
       kNeighboursMerge,
       kSataRate,
       kSataRate,
       kSataRate,
       kQueue,
       {130e-6, 80e-6, 250e-6, "one cold read of the directory entry, and the calls"},
       kAllIndexReads,
       kChunkCall,
       kByCodec,
       kTypicalSpeed,
       kTypicalSpeed,
       kTypicalSpeed,
       kMemoryCopy,
       {2, 1.5, 2.5, "typical values, not calibrated"},
       kAsStream,
       kFree,
       kFree}}},
    {"nvme",
     "NVMe SSD",
     {{{0.24e-3, 0.1e-3, 0.4e-3, "three dependent reads of metadata"},
       {80e-6, 20e-6, 100e-6, "random 4 KiB read at queue depth 1, 60-100 us for TLC"},
       kFree,
       kNeighboursMerge,
       kNvmeRate,
       kNvmeRate,
       kNvmeRate,
       kQueue,
       {100e-6, 40e-6, 150e-6, "one cold read of the directory entry, and the calls"},
       kAllIndexReads,
       kChunkCall,
       kByCodec,
       kTypicalSpeed,
       kTypicalSpeed,
       kTypicalSpeed,
       kMemoryCopy,
       {2, 1.5, 2.5, "typical values, not calibrated"},
       kAsStream,
       kFree,
       kFree}}},
    {"lustre",
     "Lustre, disk OSTs",
     {{{1.3e-3, 0.6e-3, 2e-3, "open at the metadata server and one OST round trip, 0.3-1 ms each"},
       {10e-3, 5e-3, 15e-3, "a cold read waits for a disk of the OST, 5-15 ms"},
       kFree,
       kNeighboursMerge,
       kOstRate,
       kOstRate,
       kOstRate,
       kQueue,
       {1e-3, 0.3e-3, 1e-3, "open at the metadata server, 0.3-1 ms"},
       kAllIndexReads,
       kChunkCall,
       kByCodec,
       kTypicalSpeed,
       kTypicalSpeed,
       kTypicalSpeed,
       kMemoryCopy,
       {3, 2, 4, "typical values, not calibrated; others use it too"},
       kAsStream,
       kFree,
       kFree}}},
    {"s3",
     "object store, same region",
     {{{100e-3, 40e-3, 200e-3, "two dependent requests"},
       {50e-3, 20e-3, 100e-3, "first byte in the region, 20-100 ms"},
       kFree,
       kNeighboursMerge,
       kConnectionRate,
       kConnectionRate,
       {360e6, 150e6, 1e9, "with 16 in flight, fits published read times of 87 layouts within 2 x in 85 %"},
       {16, 8, 64, "fits published read times of 87 layouts"},
       kFree,
       kAllIndexReads,
       kChunkCall,
       kByCodec,
       kTypicalSpeed,
       kTypicalSpeed,
       kTypicalSpeed,
       kMemoryCopy,
       {2, 1.5, 3, "85 % of published cells are within 2 x"},
       kAsStream,
       kFree,
       kFree}}},
}};

std::vector<Device> make_devices() {
  std::vector<Device> list(kTypical.size());
  for (std::size_t i = 0; i < kTypical.size(); ++i) {
    list[i].name = kTypical[i].name;
    list[i].summary = kTypical[i].summary;
    for (std::size_t k = 0; k < constant_rows().size(); ++k) {
      const Figure& figure = kTypical[i].figures[k];
      Constant& constant = list[i].*constant_rows()[k].member;
      constant.value = figure.value;
      constant.low = figure.low;
      constant.high = figure.high;
      constant.source = figure.source;
    }
    list[i].sequential_Bps = list[i].stream_Bps;
  }
  return list;
}

const std::vector<Device>& table() {
  static const std::vector<Device> list = make_devices();
  return list;
}

}  // namespace

std::span<const ConstantRow> constant_rows() {
  static constexpr std::array<ConstantRow, 20> kRows = {{
      {"open_s", "s", &Device::open_s, "once per read, from the path to the metadata"},
      {"access_s", "s", &Device::access_s, "a request that does not continue the one before"},
      {"seek_s", "s", &Device::seek_s, "added for the way: times sqrt(distance / 1e12 B)"},
      {"window_bytes", "B", &Device::window_bytes, "smaller chunks share an access; 0: neighbours merge"},
      {"stream_Bps", "B/s", &Device::stream_Bps, "one request's bytes; null: does not count"},
      {"pass_Bps", "B/s", &Device::pass_Bps, "reading over a gap; null: does not count"},
      {"total_Bps", "B/s", &Device::total_Bps, "all requests in flight; null: does not count"},
      {"in_flight", "requests", &Device::in_flight, "requests at the same time"},
      {"object_s", "s", &Device::object_s, "added per chunk that is an object of its own"},
      {"index_share", "1", &Device::index_share, "share of the index reads that cost time"},
      {"chunk_s", "s", &Device::chunk_s, "the client's work per chunk"},
      {"decode_Bps", "B/s", &Device::decode_Bps, "decoded bytes; 0: by codec"},
      {"codec_speed", "1", &Device::codec_speed, "decoding against the codecs' typical rates"},
      {"deflate_speed", "1", &Device::deflate_speed, "the same of deflate", true, &Device::codec_speed},
      {"client_speed", "1", &Device::client_speed, "clients' own work against the typical", true, &Device::codec_speed},
      {"copy_Bps", "B/s", &Device::copy_Bps, "wanted bytes; null: does not count"},
      {"error_factor", "1", &Device::error_factor, "a time t means t / factor .. t * factor"},
      {"sequential_Bps", "B/s", &Device::sequential_Bps, "long runs, behind readahead_bytes; null: does not count",
       true, &Device::stream_Bps},
      {"readahead_bytes", "B", &Device::readahead_bytes, "of a run come at stream_Bps", true},
      {"readahead_s", "s", &Device::readahead_s, "until a run of several requests flows", true},
  }};
  return kRows;
}

double Device::jump_s(double distance_bytes) const {
  const double seek = seek_s > 0 ? seek_s * std::sqrt(std::min(1.0, distance_bytes / 1e12)) : 0.0;
  return std::min(access_s + seek, distance_bytes / pass_Bps);
}

double Device::stream_s(double bytes, double runs, double calls) const {
  const double first = std::min(bytes, runs * readahead_bytes);
  // The windows of readahead grow with the run; from here on their start has its full price.
  constexpr double kLongRun_bytes = 256 * 1024;
  const double several =
      std::clamp(calls / std::max(1.0, runs) - 1, 0.0, 1.0) * std::min(1.0, bytes / (runs * kLongRun_bytes));
  return first / stream_Bps + (bytes - first) / sequential_Bps + runs * several * readahead_s;
}

std::span<const Device> devices() {
  return table();
}

const Device& find_device(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& device : table()) {
    if (device.name == name) return device;
    names.push_back(device.name);
  }
  throw Error(Code::usage, fmt::format("no device '{}'", name), suggest(std::string(name), names));
}

}  // namespace chunkwise
