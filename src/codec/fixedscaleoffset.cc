// Canonical "fixedscaleoffset": numcodecs "fixedscaleoffset", zarr 3 "numcodecs.fixedscaleoffset". A number x of type
// "dtype" is stored as (x - offset) * scale, rounded to an integer, of type "astype".
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "base/json.h"
#include "codec/number_types.h"
#include "codec/numbers.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kFixedScaleOffset{
    "fixedscaleoffset", "fixedscaleoffset  kept where a dataset has it, not to be asked for", {}, "fixedscaleoffset"};
// As their JSON: numbers of either kind.
constexpr const char* kScale = "scale";
constexpr const char* kOffset = "offset";

class FixedScaleOffset final : public NumberCodec {
 public:
  FixedScaleOffset(const NumberTypes& types, double scale, double offset)
      : NumberCodec(kFixedScaleOffset.codec, types.decoded, types.encoded), scale_(scale), offset_(offset) {}

  void require_lossless() const override {
    throw_lossy(fmt::format("codec '{}' rounds numbers to multiples of 1/{}", name(), scale_));
  }

 private:
  // In the precision of stored floats, as numpy computes; for integers in double precision.
  void decode_block(NumberBlock& block, Carry&) const override {
    const bool whole = block.kind != ElementKind::float_;
    const std::size_t precision_bytes = whole ? 8 : encoded_elements().bytes;
    if (whole) cast_numbers({ElementKind::float_, 8, kNativeOrder}, block);
    const auto rounded = [&](double value) {
      if (precision_bytes == 4) return static_cast<double>(static_cast<float>(value));
      return precision_bytes == 2 ? half_to_double(double_to_half(value)) : value;
    };
    const double scale = rounded(scale_);
    const double offset = rounded(offset_);
    for (std::size_t i = 0; i < block.n; ++i) block.real[i] = rounded(rounded(block.real[i] / scale) + offset);
  }

  void encode_block(NumberBlock&, Carry&) const override { require_lossless(); }

  double scale_;
  double offset_;
};

// ---- spellings

// NaN and the infinities are numbers to JSON as we read it.
double number_of(const CodecSpec& spec, const char* key) {
  const std::string text = spec.text(key, "");
  if (text.empty()) throw Error(Code::corrupt, fmt::format("codec '{}' has no {}", spec.name, key));
  return parse_json(text).get<double>();
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  return std::make_unique<FixedScaleOffset>(number_types_of(spec, element_bytes), number_of(spec, kScale),
                                            number_of(spec, kOffset));
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  return fit_number_types(spec, traits.elements);
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec{std::string(kFixedScaleOffset.codec), {}};
  for (const char* key : {kScale, kOffset}) {
    if (!config.is_object() || !config.contains(key) || !config.at(key).is_number()) {
      throw Error(Code::corrupt, fmt::format("codec '{}': {} must be a number", spec.name, key));
    }
    spec.params[key] = dump_json(config.at(key));
  }
  take_number_types(config, {}, spec);
  return spec;
}

void put_parameters(const CodecSpec& spec, std::size_t element_bytes, Json& config) {
  config[kScale] = parse_json(spec.text(kScale, ""));
  config[kOffset] = parse_json(spec.text(kOffset, ""));
  put_number_types(spec, element_bytes, {}, config);
}

Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = to_numcodecs(kFixedScaleOffset, spec);
  put_parameters(spec, element_bytes, config);
  return config;
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = Json::object();
  put_parameters(spec, element_bytes, config);
  return config;
}

}  // namespace

constexpr CodecRow kFixedScaleOffsetRow{
    .name = kFixedScaleOffset.codec,
    .summary = "scaled integers, as in numcodecs; only read or copied",
    .usage = kFixedScaleOffset.usage,
    .role = CodecRole::packs,
    .bind = bind,
    .for_chunk = for_chunk,
    .encoded_elements = number_elements,
    .print = print_by<kFixedScaleOffset>,
    .zarr2_id = kFixedScaleOffset.zarr2_id,
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.fixedscaleoffset",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
