#include "model/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

std::uint64_t rounded(double value) {
  return value < 1.8e19 ? static_cast<std::uint64_t>(std::llround(value)) : UINT64_MAX;
}

}  // namespace

std::vector<AxisTouch> touch_axes(const StoredArray& array, const AccessPattern& pattern) {
  std::vector<AxisTouch> axes;
  for (int axis = 0; axis < array.shape.rank(); ++axis) {
    const Index chunk = array.chunk ? (*array.chunk)[axis] : 1;
    axes.push_back(touch_axis(array.shape[axis], chunk, pattern.extents[axis], pattern.step(axis)));
  }
  return axes;
}

double stored_size_bytes(const StoredArray& array) {
  double elements = 1;
  const bool pads = array.chunk && array.pads_edges && !array.decode.compresses;
  for (int axis = 0; axis < array.shape.rank(); ++axis) {
    const auto length = static_cast<double>(array.shape[axis]);
    const auto chunk = pads ? static_cast<double>((*array.chunk)[axis]) : 1.0;
    elements *= pads ? std::ceil(length / chunk) * chunk : length;
  }
  return elements * static_cast<double>(array.element_bytes) * array.stored_ratio;
}

namespace {

bool is_plain(const StoredArray& array) {
  return array.client == nullptr || array.client->is_plain();
}

double chunk_work_s(const StoredArray& array, const Device& device) {
  const double own_s = is_plain(array) ? device.chunk_s.value : array.client->chunk_s / device.client_speed;
  return own_s + array.decode.s_per_chunk;
}

double decode_s_per_byte(const StoredArray& array, const Device& device) {
  if (device.decode_Bps > 0 && array.chunk) return 1 / device.decode_Bps;
  return (array.decode.s_per_byte - array.decode.deflate_s_per_byte) / device.codec_speed +
         array.decode.deflate_s_per_byte / device.deflate_speed;
}

CostTerms terms_of(const Trace& trace, const StoredArray& array, const Device& device, double& jumps_s) {
  const bool plain = is_plain(array);
  const bool objects = array.placement == Placement::one_object;
  double in_flight = std::min(trace.in_flight, device.in_flight.value);
  if (plain) in_flight = objects ? device.in_flight.value : 1;
  const auto rounds = [in_flight](double n) { return in_flight > 1 ? std::ceil(n / in_flight - 1e-9) / n : 1.0; };
  CostTerms terms;
  const double open_object_s = device.jump_s(1e12) + device.object_s;
  terms.open_s =
      plain ? device.open_s.value : trace.metadata_reads * open_object_s + array.client->open_s / device.client_speed;
  if (trace.index_reads > 0) {
    const double each_s = device.jump_s(trace.index_distance_bytes) + (objects ? device.object_s : 0.0);
    terms.index_s = device.index_share * (trace.index_reads * each_s + trace.index_bytes / device.stream_Bps) *
                    (objects ? rounds(trace.index_reads) : 1.0);
  }
  jumps_s = 0;
  if (array.chunk && device.window_bytes > 0 && !array.shard) {
    const double unit_bytes = trace.bytes / trace.chunks;
    jumps_s = trace.chunks * std::min(1.0, unit_bytes / device.window_bytes) * device.access_s;
  } else {
    for (std::size_t i = 0; i < trace.n_jumps; ++i) {
      jumps_s += trace.jumps[i].count * device.jump_s(trace.jumps[i].distance_bytes);
    }
  }
  if (!array.shard) jumps_s += trace.objects * device.object_s;
  // Reads of the index interrupt a run.
  const double runs = objects ? trace.calls : std::min(trace.calls, trace.requests + (plain ? 0.0 : trace.index_reads));
  const double serial_s = jumps_s + device.stream_s(trace.bytes, runs, trace.calls);
  terms.device_s = std::max(serial_s * rounds(trace.calls), trace.bytes / device.total_Bps);
  terms.chunks_s = array.chunk ? trace.chunks * chunk_work_s(array, device)
                               : (plain ? device.chunk_s.value : array.client->chunk_s / device.client_speed);
  if (!plain && trace.in_flight > 1) terms.device_s = std::max(0.0, terms.device_s - terms.chunks_s);
  terms.decode_s = trace.decoded_bytes * decode_s_per_byte(array, device);
  const double copied = trace.useful_bytes + (plain ? 0.0 : array.client->copies * trace.decoded_bytes);
  terms.copy_s = copied / device.copy_Bps;
  return terms;
}

}  // namespace

Cost price_trace(const Trace& trace, const StoredArray& array, const Device& device) {
  Cost cost;
  cost.requests = trace;
  cost.terms = terms_of(trace, array, device, cost.jumps_s);
  cost.seconds = cost.terms.sum_s();
  cost.seconds_low = cost.seconds / device.error_factor;
  cost.seconds_high = cost.seconds * device.error_factor;
  return cost;
}

Pricer::Pricer(const StoredArray& array, const AccessPattern& pattern, const Device& device)
    : array_(array), device_(&device) {
  const Shape& extents = pattern.extents;
  base_.useful_bytes = static_cast<double>(array.element_bytes);
  for (int axis = 0; axis < extents.rank(); ++axis) base_.useful_bytes *= static_cast<double>(extents[axis]);
  if (!array_.shard) return;
  base_.shards = 1;
  base_.shard_elements = 1;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    const Index length = (*array_.shard)[axis];
    base_.shards *= touch_axis(array_.shape[axis], length, extents[axis], pattern.step(axis)).chunks;
    base_.shard_elements *= static_cast<double>(length);
  }
}

double Pricer::seconds(std::span<const AxisTouch> axes, double chunk_elements) const {
  Trace trace;
  trace_read(array_, base_, axes, chunk_elements, trace);
  double jumps_s = 0;
  return terms_of(trace, array_, *device_, jumps_s).sum_s();
}

Cost Pricer::least(double chunks, double elements) const {
  const Device& device = *device_;
  const bool plain = is_plain(array_);
  const bool objects = array_.placement == Placement::one_object;
  const double useful_bytes = base_.useful_bytes;
  const double full_bytes = std::max(useful_bytes, elements * static_cast<double>(array_.element_bytes));
  // Without padding, and where large chunks are read piece by piece, fewer bytes may count; what is wanted is certain.
  const bool pieces = !plain && array_.client->kind == Client::Kind::hdf5 && !objects && array_.decode.s_per_byte == 0;
  const bool full = array_.pads_edges && !pieces;
  const double decoded_bytes = full ? full_bytes : useful_bytes;
  Cost cost;
  cost.requests.bytes = (full && !array_.decode.compresses ? full_bytes : useful_bytes) * array_.stored_ratio;
  if (pieces) cost.requests.bytes = std::min(useful_bytes, cost.requests.bytes);
  cost.requests.requests = 1;
  double jumps_s = 0;
  if (objects && array_.shard) {
    cost.requests.requests = chunks;
  } else if (device.window_bytes > 0) {
    cost.requests.requests = pieces ? 1 : chunks;
    const double windows = std::min(chunks, cost.requests.bytes / device.window_bytes);
    jumps_s = windows * device.access_s + (objects ? chunks * device.object_s : 0.0);
  } else if (objects) {
    cost.requests.requests = chunks;
    jumps_s = chunks * (device.jump_s(1e12) + device.object_s);
  }
  if (!plain && array_.client->fetch != Client::Fetch::exact) cost.requests.requests = 1;
  double in_flight = device.in_flight;
  if (!plain) in_flight = std::min(in_flight, array_.client->in_flight);
  const double rounds = in_flight > 1 ? 1 / in_flight : 1.0;
  const double stream_Bps = std::max(device.stream_Bps.value, device.sequential_Bps.value);
  double device_s =
      std::max((jumps_s + cost.requests.bytes / stream_Bps) * rounds, cost.requests.bytes / device.total_Bps);
  const double chunks_s = chunks * chunk_work_s(array_, device);
  if (!plain && array_.client->in_flight > 1) device_s = std::max(0.0, device_s - chunks_s);
  cost.seconds = (plain ? device.open_s.value : 0.0) + device_s + chunks_s +
                 decoded_bytes * decode_s_per_byte(array_, device) + useful_bytes / device.copy_Bps;
  return cost;
}

Cost Pricer::price(std::span<const AxisTouch> axes, double chunk_elements) const {
  Trace trace;
  trace_read(array_, base_, axes, chunk_elements, trace);
  return price_trace(trace, array_, *device_);
}

Cost price(const StoredArray& array, const Shape& extents, const Device& device) {
  return price(array, AccessPattern{"", extents, 1, {}}, device);
}

Cost price(const StoredArray& array, const AccessPattern& pattern, const Device& device) {
  double chunk_elements = 1;
  if (array.chunk) {
    for (const Index length : *array.chunk) chunk_elements *= static_cast<double>(length);
  }
  return Pricer(array, pattern, device).price(touch_axes(array, pattern), chunk_elements);
}

std::string Cost::dominating() const {
  const auto count = [](double n) { return format_count(static_cast<std::int64_t>(rounded(std::min(n, 9e18)))); };
  const auto bytes = [](double n) { return format_bytes(rounded(n)); };
  const std::array<std::pair<double, int>, 6> by_size = {{{terms.open_s, 0},
                                                          {terms.index_s, 1},
                                                          {terms.device_s, 2},
                                                          {terms.chunks_s, 3},
                                                          {terms.decode_s, 4},
                                                          {terms.copy_s, 5}}};
  switch (std::max_element(by_size.begin(), by_size.end())->second) {
    case 0:
      return "opening";
    case 1:
      return fmt::format("{} reads of the chunk index", count(requests.index_reads));
    case 2:
      // Moving the bytes, or getting at them?
      if (requests.requests < 1.5 || jumps_s < 0.5 * terms.device_s) {
        return fmt::format("reading {}", bytes(requests.bytes));
      }
      return fmt::format("{} separate reads of {}", count(requests.requests),
                         bytes(requests.bytes / requests.requests));
    case 3:
      return fmt::format("handling {} chunks", count(requests.chunks));
    case 4:
      return fmt::format("decoding {}", bytes(requests.decoded_bytes));
    default:
      return fmt::format("copying {}", bytes(requests.useful_bytes));
  }
}

}  // namespace chunkwise
