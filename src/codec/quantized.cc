// Codecs that round floats when a program writes them: canonical "bitgroom" and "granular-bitround" (HDF5 filters 32022
// and 32023) and "bitround" (numcodecs, zarr 3 "numcodecs.bitround"). What is stored are plain elements, so there is
// nothing to decode. Here nothing is rounded again either: chunks made anew hold the very elements they are given,
// under the codec's parameters, which stay.
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr const char* kCd = "cd";
constexpr Parameters kBitgroom{"bitgroom", "bitgroom  kept where an HDF5 dataset has it, not to be asked for"};
constexpr Parameters kGranular{"granular-bitround",
                               "granular-bitround  kept where an HDF5 dataset has it, not to be asked for"};
constexpr Parameter kKeepBits[] = {
    {.key = "keepbits", .asked = {0, 64}, .argument = false, .member = "keepbits"},
};
constexpr Parameters kBitround{"bitround", "bitround  kept where a dataset has it, not to be asked for", kKeepBits,
                               "bitround"};

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

template <const Parameters& parameters>
CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  return {std::string(parameters.codec), {{kCd, std::vector<std::int64_t>(cd_values.begin(), cd_values.end())}}};
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

}  // namespace

constexpr CodecRow kBitgroomRow{
    .name = kBitgroom.codec,
    .summary = "floats rounded by BitGroom; kept, never rounded again",
    .usage = kBitgroom.usage,
    .role = CodecRole::rounds,
    .bind = bind,
    .print = print_by<kBitgroom>,
    .hdf5_filter = 32022,
    .from_hdf5 = from_hdf5<kBitgroom>,
    .to_hdf5 = to_hdf5,
};

constexpr CodecRow kGranularBitroundRow{
    .name = kGranular.codec,
    .summary = "floats rounded by Granular BitRound; kept, never rounded again",
    .usage = kGranular.usage,
    .role = CodecRole::rounds,
    .bind = bind,
    .print = print_by<kGranular>,
    .hdf5_filter = 32023,
    .from_hdf5 = from_hdf5<kGranular>,
    .to_hdf5 = to_hdf5,
};

constexpr CodecRow kBitroundRow{
    .name = kBitround.codec,
    .summary = "floats rounded to bits, as in numcodecs; kept, never rounded again",
    .usage = kBitround.usage,
    .role = CodecRole::rounds,
    .bind = bind,
    .print = print_by<kBitround>,
    .zarr2_id = kBitround.zarr2_id,
    .from_zarr2 = from_json_by<kBitround>,
    .to_zarr2 = to_zarr2_by<kBitround>,
    .zarr3_name = "numcodecs.bitround",
    .zarr3_alias = "bitround",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json_by<kBitround>,
    .to_zarr3 = to_zarr3_by<kBitround>,
};

}  // namespace chunkwise
