#include "model/decode.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace chunkwise {
namespace {

struct Rate {
  std::string_view prefix;  // of the codec's name, or of the inner compressor's
  double MBps;              // decoded, one core
  bool compresses;
  bool is_deflate = false;
};

// zlib 323-348, zstd 1070-1370, lz4 3200-4170 MB/s on mixed data (lzbench, EPYC 9554); shuffled float32 fields: zlib
// 340-670, zstd 2350-3800, lz4 7000-8900. The values are geometric means of the two. Shuffles run at memory speed.
constexpr auto kRates = std::to_array<Rate>({
    {"deflate", 400, true, true},
    {"zlib", 400, true, true},
    {"gzip", 400, true, true},
    {"zstd", 1700, true},
    {"lz4", 4500, true},
    {"lzf", 700, true},
    {"snappy", 1100, true},
    {"szip", 300, true},
    {"bz2", 40, true},
    {"bzip2", 40, true},
    {"nbit", 200, true},
    {"scaleoffset", 200, true},
    {"bitgroom", 8000, false},
    {"granular-bitround", 8000, false},
    {"lzma", 80, true},
    {"blosc", 3000, true},
    {"shuffle", 5000, false},
    {"bitshuffle", 5000, false},
    {"fletcher32", 2500, false},
    {"crc32c", 8000, false},
    {"adler32", 3000, false},
    {"bytes", 8000, false},
    {"byteswap", 8000, false},
});
constexpr double kUnknown_MBps = 400;

// Setting up one chunk's decoding: 2-20 us.
constexpr double kPerChunk_s = 8e-6;

const Rate* find_rate(std::string_view name) {
  const auto row =
      std::find_if(kRates.begin(), kRates.end(), [&](const Rate& r) { return name.rfind(r.prefix, 0) == 0; });
  return row == kRates.end() ? nullptr : &*row;
}

}  // namespace

DecodeCost decode_cost(const CodecSpecs& codecs) {
  DecodeCost cost;
  for (const auto& codec : codecs) {
    const auto* rate = find_rate(codec.name);
    // A container's speed is that of the compressor inside.
    if (const auto inner = codec.params.find("cname"); inner != codec.params.end()) {
      if (const auto* name = std::get_if<std::string>(&inner->second)) {
        if (const auto* inner_rate = find_rate(*name)) rate = inner_rate;
      }
    }
    const double s_per_byte = 1e-6 / (rate != nullptr ? rate->MBps : kUnknown_MBps);
    cost.s_per_byte += s_per_byte;
    if (rate != nullptr && rate->is_deflate) cost.deflate_s_per_byte += s_per_byte;
    cost.compresses = cost.compresses || rate == nullptr || rate->compresses;
    cost.estimated = cost.estimated || rate == nullptr;
  }
  if (!codecs.empty()) cost.s_per_chunk = kPerChunk_s;
  return cost;
}

}  // namespace chunkwise
