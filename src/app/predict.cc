#include "app/predict.h"

#include <algorithm>

#include "model/decode.h"

namespace chunkwise {
namespace {
constexpr double kCopy_s_per_byte = 1 / 4e9;  // one strided pass over memory
constexpr double kEncodeOverDecode = 2;
}  // namespace

double predict_seconds(const RechunkReport& report) {
  double work_s = 0;
  for (const RechunkReport::Variable& variable : report.variables) {
    const ArrayPlan& plan = variable.plan;
    const double bytes = static_cast<double>(plan.decoded_bytes);
    if (plan.kind == ArrayPlan::Kind::copy_chunks)
      work_s += static_cast<double>(plan.read_bytes) * 2 * kCopy_s_per_byte;
    if (plan.kind != ArrayPlan::Kind::rewrite) continue;
    const DecodeCost decode = decode_cost(variable.source.codecs);
    const DecodeCost encode = decode_cost(variable.target.codecs);
    work_s += bytes * plan.passes * (decode.s_per_byte + kCopy_s_per_byte) +
              static_cast<double>(plan.n_source_reads) * decode.s_per_chunk;
    work_s += bytes * (kEncodeOverDecode * encode.s_per_byte + kCopy_s_per_byte) +
              static_cast<double>(plan.n_target_chunks) * kEncodeOverDecode * encode.s_per_chunk;
  }
  return work_s / std::max(1, report.plan.n_threads);
}

}  // namespace chunkwise
