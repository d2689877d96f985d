// Canonical "shuffle": HDF5 filter 2, numcodecs "shuffle", zarr 3 "numcodecs.shuffle".
#include "codec/shuffle.h"

#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kShuffle{
    "shuffle", "shuffle  byte planes of the elements, makes any compressor after it better", {}, "shuffle"};
constexpr const char* kElementBytes = "element_bytes";
constexpr IntegerRange kElementRange{1, std::numeric_limits<std::int32_t>::max()};

class Shuffle final : public Codec {
 public:
  explicit Shuffle(std::size_t element_bytes) : element_bytes_(element_bytes), kernel_(best_shuffle_kernel()) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(decoded.size());
    shuffle_bytes(kernel_, element_bytes_, decoded, encoded.span());
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() > max_decoded_bytes) throw_decoded_too_large("shuffle", max_decoded_bytes);
    decoded.resize_discard(encoded.size());
    unshuffle_bytes(kernel_, element_bytes_, encoded, decoded.span());
  }

 private:
  std::size_t element_bytes_;
  ShuffleKernel kernel_;
};

// The size of the array's elements stands in where the parameter is not given (command line).
std::int64_t element_bytes_of(const CodecSpec& spec, std::size_t element_bytes) {
  const std::int64_t value = spec.integer(kElementBytes, static_cast<std::int64_t>(element_bytes));
  require_parameter(value, kElementRange, "shuffle", kElementBytes);
  return value;
}

CodecSpec spec_of(std::int64_t element_bytes) {
  return {"shuffle", {{kElementBytes, element_bytes}}};
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t element_bytes) {
  return std::make_unique<Shuffle>(static_cast<std::size_t>(element_bytes_of(spec, element_bytes)));
}

// Keeps a size that was told, which in Zarr may be another, as long as numcodecs can: it takes no part of an element.
CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  const std::size_t bytes = traits.elements.bytes;
  const std::int64_t told = element_bytes_of(spec, bytes);
  const auto n_bytes = checked_mul(checked_product(traits.chunk).value_or(0), static_cast<Index>(bytes));
  return spec_of(n_bytes && *n_bytes % told == 0 ? told : static_cast<std::int64_t>(bytes));
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  if (cd_values.empty()) throw Error(Code::corrupt, "codec 'shuffle': the filter has no element size");
  require_parameter(cd_values[0], kElementRange, "shuffle", kElementBytes);
  return spec_of(cd_values[0]);
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t) {
  return {static_cast<unsigned>(element_bytes_of(spec, element_bytes))};
}

CodecSpec from_json(const Json& config, std::int64_t otherwise) {
  // numcodecs treats 0 as 1: a plain copy.
  const std::int64_t size = config_integer(config, "elementsize", otherwise, {0, kElementRange.most}, "shuffle");
  return spec_of(size == 0 ? 1 : size);
}

CodecSpec from_zarr2(const Json& config) {
  return from_json(config, 4);
}

// zarr-python takes the size of the array's elements where none is told.
CodecSpec from_zarr3(const Json& config) {
  const bool told = config.is_object() && config.contains("elementsize") && !config.at("elementsize").is_null();
  return told ? from_json(config, 1) : CodecSpec{"shuffle", {}};
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{"elementsize", element_bytes_of(spec, element_bytes)}};
}

Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{"id", "shuffle"}, {"elementsize", element_bytes_of(spec, element_bytes)}};
}

}  // namespace

constexpr CodecRow kShuffleRow{
    .name = kShuffle.codec,
    .summary = "byte shuffle, as in HDF5 and numcodecs",
    .usage = kShuffle.usage,
    .role = CodecRole::arranges,
    .bind = bind,
    .for_chunk = for_chunk,
    .parse = parse_by<kShuffle>,
    .print = print_by<kShuffle>,
    .hdf5_filter = 2,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = kShuffle.zarr2_id,
    .from_zarr2 = from_zarr2,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.shuffle",
    .from_zarr3 = from_zarr3,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
