// Canonical "bitgroom" and "granular-bitround": HDF5 filters 32022 and 32023. They round floats when a program writes
// them; what is stored are plain elements, so there is nothing to decode. Here nothing is rounded again either: chunks
// made anew hold the very elements they are given, under the filter's parameters, which stay.
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr const char* kCd = "cd";

class Rounded final : public Codec {
 public:
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(decoded.size());
    if (!decoded.empty()) std::memcpy(encoded.data(), decoded.data(), decoded.size());
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() > max_decoded_bytes) throw_decoded_too_large("rounded", max_decoded_bytes);
    encode(encoded, decoded);
  }
};

std::unique_ptr<Codec> bind(const CodecSpec&, std::size_t) {
  return std::make_unique<Rounded>();
}

std::string print(const CodecSpec& spec) {
  return spec.name;
}

template <const char* const& name>
CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  return {name, {{kCd, std::vector<std::int64_t>(cd_values.begin(), cd_values.end())}}};
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t) {
  std::vector<unsigned> values;
  const auto found = spec.params.find(kCd);
  if (found == spec.params.end()) return values;
  if (const auto* cd = std::get_if<std::vector<std::int64_t>>(&found->second)) {
    for (const std::int64_t value : *cd) values.push_back(static_cast<unsigned>(value));
  }
  return values;
}

constexpr const char* kBitgroom = "bitgroom";
constexpr const char* kBitround = "granular-bitround";

}  // namespace

constexpr CodecRow kBitgroomRow{
    .name = "bitgroom",
    .alias = {},
    .summary = "floats rounded by BitGroom; kept, never rounded again",
    .usage = "bitgroom  kept where an HDF5 dataset has it, not to be asked for",
    .bind = bind,
    .for_chunk = nullptr,
    .parse = nullptr,
    .print = print,
    .hdf5_filter = 32022,
    .from_hdf5 = from_hdf5<kBitgroom>,
    .to_hdf5 = to_hdf5,
    .zarr2_id = {},
    .from_zarr2 = nullptr,
    .to_zarr2 = nullptr,
    .zarr3_name = {},
    .zarr3_alias = {},
    .from_zarr3 = nullptr,
    .to_zarr3 = nullptr,
};

constexpr CodecRow kBitroundRow{
    .name = "granular-bitround",
    .alias = {},
    .summary = "floats rounded by Granular BitRound; kept, never rounded again",
    .usage = "granular-bitround  kept where an HDF5 dataset has it, not to be asked for",
    .bind = bind,
    .for_chunk = nullptr,
    .parse = nullptr,
    .print = print,
    .hdf5_filter = 32023,
    .from_hdf5 = from_hdf5<kBitround>,
    .to_hdf5 = to_hdf5,
    .zarr2_id = {},
    .from_zarr2 = nullptr,
    .to_zarr2 = nullptr,
    .zarr3_name = {},
    .zarr3_alias = {},
    .from_zarr3 = nullptr,
    .to_zarr3 = nullptr,
};

}  // namespace chunkwise
