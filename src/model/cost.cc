#include "model/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise {
namespace {

// Version 1 B-tree of HDF5: at most 64 entries a node, append-filled nodes hold about 50.
constexpr double kIndexEntries = 50;
constexpr double kShardEntry_bytes = 16;

double index_node_bytes(int rank) {
  const double key_bytes = 8 + 8.0 * (rank + 1);
  return 24 + 65 * key_bytes + 64 * 8.0;
}

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

Pricer::Pricer(const StoredArray& array, const AccessPattern& pattern, const Device& device)
    : array_(array), device_(&device) {
  const Shape& extents = pattern.extents;
  useful_bytes_ = static_cast<double>(array.element_bytes);
  for (int axis = 0; axis < extents.rank(); ++axis) useful_bytes_ *= static_cast<double>(extents[axis]);
  if (!array_.shard) return;
  shards_ = 1;
  shard_elements_ = 1;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    const Index length = (*array_.shard)[axis];
    shards_ *= touch_axis(array_.shape[axis], length, extents[axis], pattern.step(axis)).chunks;
    shard_elements_ *= static_cast<double>(length);
  }
}

CostTerms Pricer::terms(std::span<const AxisTouch> axes, double chunk_elements, Requests& requests) const {
  const Device& device = *device_;
  const bool chunked = array_.chunk.has_value();
  const bool objects = array_.placement == Placement::one_object;
  const auto element_bytes = static_cast<double>(array_.element_bytes);

  // 1. Geometry.
  double units = 1;
  double covered = 1;
  double all_units = 1;
  for (const auto& axis : axes) {
    units *= axis.chunks;
    covered *= axis.elements;
    all_units *= axis.all_chunks;
  }
  const bool stores_padding = array_.pads_edges && !array_.decode.compresses;
  requests.useful_bytes = useful_bytes_;
  requests.chunks = chunked ? units : 1;
  requests.decoded_bytes =
      array_.pads_edges && chunked ? units * chunk_elements * element_bytes : covered * element_bytes;
  requests.bytes = (stores_padding && chunked ? requests.decoded_bytes : covered * element_bytes) * array_.stored_ratio;

  // 2. Requests: runs of neighbours, the way between them, and the index nodes that name the chunks.
  const double unit_bytes = chunk_elements * element_bytes * array_.stored_ratio;
  CostTerms terms;
  terms.open_s = device.open_s;
  const double in_flight = device.in_flight;
  const auto rounds = [in_flight](double n) { return in_flight > 1 ? std::ceil(n / in_flight - 1e-9) / n : 1.0; };
  if (objects && array_.shard) {
    // Each shard is opened for its index, then each chunk is a range of it.
    requests.requests = units;
    requests.index_reads = shards_;
    requests.jumps_s = units * device.jump_s(unit_bytes);
    const double index_bytes = kShardEntry_bytes * shard_elements_ / chunk_elements;
    terms.index_s = device.index_share * shards_ * rounds(shards_) *
                    (device.jump_s(1e12) + device.object_s + index_bytes / device.stream_Bps);
  } else if (chunked && device.window_bytes > 0) {
    requests.requests = units;
    requests.jumps_s =
        units * (std::min(1.0, unit_bytes / device.window_bytes) * device.access_s + (objects ? device.object_s : 0.0));
  } else if (objects) {
    requests.requests = units;
    requests.jumps_s = units * (device.jump_s(1e12) + device.object_s);
  } else {
    requests.requests = 1;
    requests.jumps_s = device.jump_s(unit_bytes * all_units / 3);  // from the metadata to the first of the data
    double leaves = 1;
    visit_gaps(axes, [&](double count, double gap_units) {
      requests.requests += count;
      requests.jumps_s += count * device.jump_s(gap_units * unit_bytes);
      leaves += count * std::min(1.0, (gap_units + 1) / kIndexEntries);
    });
    if (chunked) {
      // Entries of the index are in row-major order too: one leaf per kIndexEntries chunks in a row, and the inner
      // nodes above.
      leaves += (units - requests.requests) / kIndexEntries;
      const double depth = std::max(0.0, std::ceil(std::log(all_units / kIndexEntries) / std::log(kIndexEntries)));
      requests.index_reads = std::min(leaves, std::ceil(all_units / kIndexEntries)) + depth;
      const double node_bytes = index_node_bytes(static_cast<int>(axes.size()));
      terms.index_s =
          device.index_share * requests.index_reads *
          (device.jump_s(std::max(node_bytes, kIndexEntries * unit_bytes)) + node_bytes / device.stream_Bps);
    }
  }

  // 3. Time.
  const double serial_s = requests.jumps_s + requests.bytes / device.stream_Bps;
  terms.device_s = std::max(serial_s * rounds(requests.requests), requests.bytes / device.total_Bps);
  terms.chunks_s = chunked ? units * (device.chunk_s + array_.decode.s_per_chunk) : device.chunk_s;
  const bool any_codec = device.decode_Bps > 0 && chunked;
  terms.decode_s =
      requests.decoded_bytes * (any_codec ? 1 / device.decode_Bps : array_.decode.s_per_byte / device.codec_speed);
  terms.copy_s = requests.useful_bytes / device.copy_Bps;
  return terms;
}

double Pricer::seconds(std::span<const AxisTouch> axes, double chunk_elements) const {
  Requests requests;
  return terms(axes, chunk_elements, requests).sum_s();
}

Cost Pricer::least(double chunks, double elements) const {
  const Device& device = *device_;
  const bool objects = array_.placement == Placement::one_object;
  const double useful_bytes = useful_bytes_;
  const double full_bytes = std::max(useful_bytes, elements * static_cast<double>(array_.element_bytes));
  // Without padding fewer bytes may count; what is wanted is certain.
  const double decoded_bytes = array_.pads_edges ? full_bytes : useful_bytes;
  Cost cost;
  cost.requests.bytes =
      (array_.pads_edges && !array_.decode.compresses ? full_bytes : useful_bytes) * array_.stored_ratio;
  cost.requests.requests = 1;
  double jumps_s = 0;
  if (objects && array_.shard) {
    cost.requests.requests = chunks;
  } else if (device.window_bytes > 0) {
    cost.requests.requests = chunks;
    const double windows = std::min(
        chunks, elements * static_cast<double>(array_.element_bytes) * array_.stored_ratio / device.window_bytes);
    jumps_s = windows * device.access_s + (objects ? chunks * device.object_s : 0.0);
  } else if (objects) {
    cost.requests.requests = chunks;
    jumps_s = chunks * (device.jump_s(1e12) + device.object_s);
  }
  const double rounds = device.in_flight > 1 ? 1 / device.in_flight : 1.0;
  const double device_s =
      std::max((jumps_s + cost.requests.bytes / device.stream_Bps) * rounds, cost.requests.bytes / device.total_Bps);
  const double decode_s_per_byte =
      device.decode_Bps > 0 ? 1 / device.decode_Bps : array_.decode.s_per_byte / device.codec_speed;
  cost.seconds = device.open_s + device_s + chunks * (device.chunk_s + array_.decode.s_per_chunk) +
                 decoded_bytes * decode_s_per_byte + useful_bytes / device.copy_Bps;
  return cost;
}

Cost Pricer::price(std::span<const AxisTouch> axes, double chunk_elements) const {
  Cost cost;
  cost.terms = terms(axes, chunk_elements, cost.requests);
  cost.seconds = cost.terms.sum_s();
  cost.seconds_low = cost.seconds / device_->error_factor;
  cost.seconds_high = cost.seconds * device_->error_factor;
  return cost;
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
      if (requests.requests < 1.5 || requests.jumps_s < 0.5 * terms.device_s) {
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
