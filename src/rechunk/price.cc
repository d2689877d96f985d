#include "rechunk/price.h"

#include <algorithm>

#include "model/decode.h"
#include "model/device.h"

namespace chunkwise {
namespace {

constexpr double kCopy_s_per_byte = 1 / 4e9;  // one strided pass over memory
constexpr double kEncodeOverDecode = 2;
/// Readers that are at work at one time, see execute.cc.
constexpr double kReaders = 8;

/// What one stage asks of the device and of the cores.
struct Stage {
  double bytes = 0;
  double n_chunks = 0;    // each in its turn
  double n_accesses = 0;  // somewhere else than the one before
  double core_s = 0;

  double seconds(int n_threads) const {
    const Device& device = find_device(kDefaultDevice);
    const double device_s =
        bytes / device.total_Bps + n_chunks * device.chunk_s / kReaders + n_accesses * device.access_s / kReaders;
    return std::max(device_s, core_s / std::max(1, n_threads));
  }
};

/// What the target will take, as far as the source tells.
double target_bytes(const ArrayMeta& source, const ArrayMeta& target, double decoded_bytes) {
  if (!decode_cost(target.codecs).compresses) return decoded_bytes;
  return std::min(decoded_bytes, static_cast<double>(source.stored_bytes));
}

void add_encoding(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan, Stage& stage) {
  const auto decoded_bytes = static_cast<double>(plan.decoded_bytes);
  const auto n_chunks = static_cast<double>(plan.n_target_chunks);
  stage.bytes += target_bytes(source, target, decoded_bytes);
  stage.n_chunks += n_chunks;
  stage.core_s += encoding_s(target.codecs, decoded_bytes, n_chunks);
}

Stage reading(const ArrayMeta& source, const ArrayPlan& plan) {
  Stage stage;
  stage.bytes = static_cast<double>(plan.read_bytes);
  stage.n_chunks = static_cast<double>(plan.n_source_reads);
  stage.core_s = decoding_s(source.codecs, static_cast<double>(plan.decoded_bytes) * plan.passes, stage.n_chunks);
  return stage;
}

}  // namespace

double decoding_s(const CodecSpecs& codecs, double decoded_bytes, double n_chunks) {
  const DecodeCost cost = decode_cost(codecs);
  return decoded_bytes * (cost.s_per_byte + kCopy_s_per_byte) + n_chunks * cost.s_per_chunk;
}

double encoding_s(const CodecSpecs& codecs, double decoded_bytes, double n_chunks) {
  const DecodeCost cost = decode_cost(codecs);
  return decoded_bytes * (kEncodeOverDecode * cost.s_per_byte + kCopy_s_per_byte) +
         n_chunks * kEncodeOverDecode * cost.s_per_chunk;
}

double price_of_passes(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan, int n_threads) {
  Stage stage = reading(source, plan);
  add_encoding(source, target, plan, stage);
  return stage.seconds(n_threads);
}

double price_of_intermediate(const ArrayMeta& source, const ArrayMeta& target, const ArrayPlan& plan,
                             const IntermediatePlan& intermediate, int n_threads) {
  const auto scratch_bytes = static_cast<double>(intermediate.scratch_bytes);
  const auto n_boxes = static_cast<double>(intermediate.boxes.n_boxes());
  const auto decoded_bytes = static_cast<double>(plan.decoded_bytes);
  Stage fill = reading(source, intermediate.fill);
  fill.bytes += scratch_bytes;
  fill.n_chunks += n_boxes;
  fill.core_s += encoding_s(intermediate.meta.codecs, decoded_bytes, n_boxes);
  Stage drain;
  drain.bytes = scratch_bytes;
  drain.n_chunks = n_boxes;
  drain.n_accesses = static_cast<double>(intermediate.n_meetings);
  drain.core_s = decoding_s(intermediate.meta.codecs, decoded_bytes, n_boxes);
  add_encoding(source, target, plan, drain);
  return fill.seconds(n_threads) + drain.seconds(n_threads);
}

}  // namespace chunkwise
