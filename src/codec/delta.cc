// Canonical "delta": numcodecs "delta", zarr 3 "numcodecs.delta". The first number as it is, then differences between
// neighbours, of type "dtype", stored as "astype".
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

constexpr Parameters kDelta{"delta", "delta  differences between neighbouring integers", {}, "delta"};

bool is_integer(const Elements& elements) {
  return elements.kind == ElementKind::int_ || elements.kind == ElementKind::uint;
}

class Delta final : public NumberCodec {
 public:
  Delta(const Elements& decoded, const Elements& encoded) : NumberCodec("delta", decoded, encoded) {}

  // Differences of integers wrap around, and so do the sums.
  void require_lossless() const override {
    if (is_integer(decoded_elements()) && survives_cast(decoded_elements(), encoded_elements())) return;
    throw_lossy(
        fmt::format("codec 'delta' rounds {} as {}", to_string(decoded_elements()), to_string(encoded_elements())));
  }

 private:
  void decode_block(NumberBlock& block, Carry& carry) const override {
    const Elements& type = decoded_elements();
    if (is_integer(type)) {
      if (block.kind == ElementKind::float_) cast_numbers(type, block);
      block.kind = type.kind;
      auto sum = static_cast<std::uint64_t>(carry.whole);
      for (std::size_t i = 0; i < block.n; ++i) {
        sum += static_cast<std::uint64_t>(block.whole[i]);
        block.whole[i] = static_cast<std::int64_t>(sum);
      }
      carry.whole = static_cast<std::int64_t>(sum);
      return;
    }
    cast_numbers(type, block);
    if (type.kind == ElementKind::boolean) {
      // To numpy the sum of two booleans is their disjunction.
      for (std::size_t i = 0; i < block.n; ++i) block.whole[i] = carry.whole |= block.whole[i];
      return;
    }
    // Every sum is rounded to the type. That of two shorter floats is exact enough as a double for that.
    for (std::size_t i = 0; i < block.n; ++i) {
      carry.real += block.real[i];
      if (type.bytes == 4) carry.real = static_cast<double>(static_cast<float>(carry.real));
      if (type.bytes == 2) carry.real = half_to_double(double_to_half(carry.real));
      block.real[i] = carry.real;
    }
  }

  void encode_block(NumberBlock& block, Carry& carry) const override {
    for (std::size_t i = 0; i < block.n; ++i) {
      const std::int64_t number = block.whole[i];
      block.whole[i] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(carry.whole));
      carry.whole = number;
    }
    if (encoded_elements().kind != decoded_elements().kind || encoded_elements().bytes != decoded_elements().bytes) {
      cast_numbers(decoded_elements(), block);
    }
  }
};

// ---- spellings

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  const NumberTypes types = number_types_of(spec, element_bytes);
  return std::make_unique<Delta>(types.decoded, types.encoded);
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  return fit_number_types(spec, traits.elements);
}

CodecSpec from_json(const Json& config) {
  CodecSpec spec{"delta", {}};
  take_number_types(config, {}, spec);
  return spec;
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = to_members(kDelta, spec);
  put_number_types(spec, element_bytes, {}, config);
  return config;
}

Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  Json config = to_numcodecs(kDelta, spec);
  put_number_types(spec, element_bytes, {}, config);
  return config;
}

}  // namespace

constexpr CodecRow kDeltaRow{
    .name = kDelta.codec,
    .summary = "differences of neighbours, as in numcodecs; floats only read or copied",
    .usage = kDelta.usage,
    .role = CodecRole::arranges,
    .bind = bind,
    .for_chunk = for_chunk,
    .encoded_elements = number_elements,
    .parse = parse_by<kDelta>,
    .print = print_by<kDelta>,
    .zarr2_id = kDelta.zarr2_id,
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.delta",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
