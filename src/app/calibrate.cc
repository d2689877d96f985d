#include "app/calibrate.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/profiles.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "model/decode.h"

namespace chunkwise {
namespace {

Constant measured(double value, double low, double high, std::string source) {
  return {value, std::min(low, value), std::max(high, value), std::move(source)};
}

/// A smooth field with some noise in its last bits, as measurements have.
Bytes float_field(std::size_t n) {
  Bytes bytes(n * sizeof(float));
  std::uint32_t noise = 1;
  for (std::size_t i = 0; i < n; ++i) {
    noise = noise * 1664525u + 1013904223u;
    const double smooth = 280 + 20 * std::sin(static_cast<double>(i) * 1e-3);
    const auto value = static_cast<float>(smooth + static_cast<double>(noise >> 20U) * 1e-5);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

/// How fast this machine decodes, against the typical rates; ascending. With zstd, which every reader decodes with the
/// same library; our own deflate and shuffle are faster than what others use.
std::vector<double> decode_speeds() {
  constexpr std::size_t kElements = 1024 * 1024;
  const Bytes field = float_field(kElements);
  std::vector<double> speeds;
  for (const std::int64_t level : {1, 3, 9}) {
    const CodecSpecs specs = {{"zstd", {{"level", level}}}};
    const CodecChain chain(specs, sizeof(float));
    CodecChain::Scratch scratch;
    const ByteView view = chain.encode(field, scratch);
    const Bytes encoded = Bytes::copy_of(view);
    std::vector<double> seconds;
    for (int i = 0; i < 7; ++i) {
      const auto begin = Clock::now();
      static_cast<void>(chain.decode(encoded, field.size(), 0, scratch));
      seconds.push_back(seconds_since(begin));
    }
    std::sort(seconds.begin(), seconds.end());
    speeds.push_back(decode_cost(specs).s_per_byte * static_cast<double>(field.size()) / seconds[seconds.size() / 2]);
  }
  std::sort(speeds.begin(), speeds.end());
  return speeds;
}

double copy_rate() {
  constexpr std::size_t kSize = 64u << 20;
  Bytes from(kSize);
  std::memset(from.data(), 1, kSize);
  Bytes to(kSize);
  double best_s = 1e9;
  for (int i = 0; i < 4; ++i) {
    const auto begin = Clock::now();
    std::memcpy(to.data(), from.data(), kSize);
    best_s = std::min(best_s, seconds_since(begin));
  }
  return static_cast<double>(kSize) / best_s;
}

Device fit(const DeviceProbe& probe) {
  Device device = find_device(kDefaultDevice);  // what is not measured is typical
  const auto& page = probe.random.front();
  const auto& middle = probe.random[1];
  const auto& large = probe.random.back();
  // Two unknowns from the medians of small and large requests.
  const double slope_s = (large.quantile(0.5) - middle.quantile(0.5)) / (large.size_bytes - middle.size_bytes);
  const double stream_Bps = 1 / std::max(slope_s, 1e-12);
  device.stream_Bps = measured(
      stream_Bps, large.size_bytes / large.quantile(0.75), large.size_bytes / large.quantile(0.25),
      fmt::format("{} random reads of 8 MiB against 64 KiB, medians; interval of the quartiles", large.seconds.size()));
  const auto access = [&](double q) {
    return std::max(1e-7,
                    (page.quantile(q) + middle.quantile(q) - (page.size_bytes + middle.size_bytes) / stream_Bps) / 2);
  };
  device.access_s = measured(access(0.5), access(0.25), access(0.75),
                             fmt::format("{} random reads of 4 and 64 KiB, medians; interval of the quartiles",
                                         page.seconds.size() + middle.seconds.size()));
  double pass_Bps = stream_Bps;
  for (const auto& skip : probe.skips) {
    double mean_s = 0;
    for (const double s : skip.seconds) mean_s += s / static_cast<double>(skip.seconds.size());
    if (mean_s < 0.9 * device.access_s) pass_Bps = std::max(pass_Bps, skip.gap_bytes / mean_s);
  }
  device.pass_Bps = measured(pass_Bps, stream_Bps, pass_Bps,
                             "4 KiB read every 64 KiB to 4 MiB, forwards; where that is cheaper than an access");
  device.total_Bps =
      measured(std::max(probe.total_Bps, stream_Bps), stream_Bps, probe.total_Bps, "eight reads of 2 MiB in flight");
  const double sequential_Bps = std::max(probe.sequential_Bps, stream_Bps);
  device.sequential_Bps = measured(sequential_Bps, stream_Bps, sequential_Bps,
                                   "up to 256 MiB from one end to the other in requests of 1 MiB");
  device.readahead_bytes = measured(probe.readahead_bytes, probe.readahead_bytes, probe.readahead_bytes,
                                    "the kernel's read_ahead_kb; 0: it did not say");
  const auto start_s = [&](double q) {
    return std::max(0.0, probe.runs.quantile(q) - device.access_s - probe.runs.size_bytes / stream_Bps);
  };
  device.readahead_s = measured(
      start_s(0.5), start_s(0.25), start_s(0.75),
      fmt::format("{} runs of 1 MiB in requests of 16 KiB, less an access and the bytes", probe.runs.seconds.size()));
  device.in_flight =
      measured(probe.queue_gain, 1, probe.queue_gain, "random reads of 64 KiB, eight at a time against one");
  const double open = probe.opens.quantile(0.5);
  device.object_s =
      measured(std::max(1e-7, open - access(0.5)), std::max(1e-7, probe.opens.quantile(0.25) - access(0.5)),
               std::max(1e-7, probe.opens.quantile(0.75) - access(0.5)),
               fmt::format("{} small files opened and read, less an access; names may be in the cache",
                           probe.opens.seconds.size()));
  device.open_s = measured(3 * access(0.5), 2 * access(0.25), 4 * access(0.75), "three dependent accesses");
  const double copy_Bps = copy_rate();
  device.copy_Bps = measured(copy_Bps, copy_Bps / 2, copy_Bps, "memcpy of 64 MiB");
  const auto speeds = decode_speeds();
  device.codec_speed = measured(speeds[speeds.size() / 2], speeds.front(), speeds.back(),
                                "4 MiB of float32 decoded with zstd 1, 3 and 9, against the typical rate");
  // Clients' own work, and zlib in HDF5, were measured on a machine that decodes zstd at so much of the typical rate.
  constexpr double kReferenceZstd = 0.48;
  constexpr double kReferenceDeflate = 0.76;  // shuffle and deflate of 1 MiB chunks through h5py, without the shuffle
  const auto scaled = [&](double factor, const char* source) {
    return measured(factor * device.codec_speed, factor * device.codec_speed.low, factor * device.codec_speed.high,
                    source);
  };
  device.deflate_speed =
      scaled(kReferenceDeflate / kReferenceZstd, "by the speed of zstd, from a machine where both were measured");
  device.client_speed = scaled(1 / kReferenceZstd, "by the speed of zstd, against the machine of the clients' figures");
  // How well the law meets the probes themselves, means as a read of many chunks sees them.
  double worst = 1;
  for (const auto& random : probe.random) {
    double mean_s = 0;
    for (const double s : random.seconds) mean_s += s / static_cast<double>(random.seconds.size());
    const double predicted_s = device.access_s + random.size_bytes / device.stream_Bps;
    worst = std::max({worst, mean_s / predicted_s, predicted_s / mean_s});
  }
  device.error_factor =
      measured(std::max(1.25, worst), 1.25, std::max(1.25, worst), "the worst of the mean times of random reads");
  return device;
}

std::string machine_json() {
  utsname names{};
  static_cast<void>(::uname(&names));
  char host[256] = {};
  static_cast<void>(::gethostname(host, sizeof host - 1));
  Json machine = {{"host", host},
                  {"system", fmt::format("{} {}", names.sysname, names.release)},
                  {"processor", names.machine},
                  {"cores", static_cast<std::int64_t>(::sysconf(_SC_NPROCESSORS_ONLN))}};
  return dump_json(Json{{"machine", std::move(machine)}});
}

}  // namespace

CalibrateReport calibrate(const std::string& folder, std::string out, double budget_s) {
  if (out.empty()) out = saved_profile_path();
  if (out.empty()) throw Error(Code::usage, "there is no home folder to save the profile in", "give --out FILE");
  CalibrateReport report;
  report.folder = folder;
  report.probe = probe_device(folder, budget_s);
  report.device = fit(report.probe);
  char host[256] = {};
  static_cast<void>(::gethostname(host, sizeof host - 1));
  report.device.name = host[0] != '\0' ? host : "here";
  report.device.summary = fmt::format("measured under {}", folder);
  report.device.calibrated = today();
  save_profile(out, profile_json(report.device, machine_json()));
  report.saved_to = out;
  return report;
}

}  // namespace chunkwise
