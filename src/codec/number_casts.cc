// Codecs that only change the type of numbers: canonical "astype" and "quantize", in numcodecs under the same names, in
// zarr 3 "numcodecs.astype" and "numcodecs.quantize". The latter has rounded its floats before.
#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "codec/number_types.h"
#include "codec/numbers.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kAsType{"astype", "astype  kept where a dataset has it, not to be asked for", {}, "astype"};
constexpr NumberMembers kAsTypeMembers{"decode_dtype", "encode_dtype"};

constexpr Parameter kQuantizeRows[] = {
    {.key = "digits", .asked = {-1000, 1000}, .argument = false, .member = "digits"},
};
constexpr Parameters kQuantize{"quantize", "quantize  kept where a dataset has it, not to be asked for", kQuantizeRows,
                               "quantize"};

// What quantize has rounded is not rounded again: decoding changes no float, so any float can be stored.
class Cast final : public NumberCodec {
 public:
  Cast(std::string_view name, const NumberTypes& types) : NumberCodec(name, types.decoded, types.encoded) {}

  void require_lossless() const override {
    if (survives_cast(decoded_elements(), encoded_elements())) return;
    throw_lossy(fmt::format("codec '{}' stores {} as {}", name(), to_string(decoded_elements()),
                            to_string(encoded_elements())));
  }

 private:
  void decode_block(NumberBlock&, Carry&) const override {}
  void encode_block(NumberBlock&, Carry&) const override {}
};

// ---- spellings

template <const Parameters& parameters>
std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  return std::make_unique<Cast>(parameters.codec, number_types_of(spec, element_bytes));
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  return fit_number_types(spec, traits.elements);
}

template <const Parameters& parameters>
constexpr NumberMembers kMembers = &parameters == &kAsType ? kAsTypeMembers : NumberMembers{};

template <const Parameters& parameters>
CodecSpec from_json(const Json& config) {
  CodecSpec spec = from_members(parameters, config);
  take_number_types(config, kMembers<parameters>, spec);
  return spec;
}

template <const Parameters& parameters>
Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = to_numcodecs(parameters, spec);
  put_number_types(spec, element_bytes, kMembers<parameters>, config);
  return config;
}

template <const Parameters& parameters>
Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = to_members(parameters, spec);
  put_number_types(spec, element_bytes, kMembers<parameters>, config);
  return config;
}

}  // namespace

constexpr CodecRow kAsTypeRow{
    .name = kAsType.codec,
    .summary = "numbers stored as another type, as in numcodecs; narrower ones only read or copied",
    .usage = kAsType.usage,
    .role = CodecRole::packs,
    .bind = bind<kAsType>,
    .for_chunk = for_chunk,
    .encoded_elements = number_elements,
    .print = print_by<kAsType>,
    .zarr2_id = kAsType.zarr2_id,
    .from_zarr2 = from_json<kAsType>,
    .to_zarr2 = to_zarr2<kAsType>,
    .zarr3_name = "numcodecs.astype",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json<kAsType>,
    .to_zarr3 = to_zarr3<kAsType>,
};

constexpr CodecRow kQuantizeRow{
    .name = kQuantize.codec,
    .summary = "floats rounded to digits, as in numcodecs; kept, never rounded again",
    .usage = kQuantize.usage,
    .role = CodecRole::packs,
    .bind = bind<kQuantize>,
    .for_chunk = for_chunk,
    .encoded_elements = number_elements,
    .print = print_by<kQuantize>,
    .zarr2_id = kQuantize.zarr2_id,
    .from_zarr2 = from_json<kQuantize>,
    .to_zarr2 = to_zarr2<kQuantize>,
    .zarr3_name = "numcodecs.quantize",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json<kQuantize>,
    .to_zarr3 = to_zarr3<kQuantize>,
};

}  // namespace chunkwise
