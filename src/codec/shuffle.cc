// Canonical "shuffle": HDF5 filter 2, numcodecs "shuffle", zarr 3 "numcodecs.shuffle".
#include "codec/shuffle.h"

#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr std::string_view kUsage = "shuffle  byte planes of the elements, makes any compressor after it better";
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

// Keeps a size that was told, which in Zarr may be another.
CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  return spec_of(element_bytes_of(spec, traits.element_bytes));
}

CodecSpec parse(std::span<const std::string_view> arguments) {
  require_arguments(arguments, 0, kUsage);
  return {"shuffle", {}};
}

std::string print(const CodecSpec&) {
  return "shuffle";
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  if (cd_values.empty()) throw Error(Code::corrupt, "codec 'shuffle': the filter has no element size");
  require_parameter(cd_values[0], kElementRange, "shuffle", kElementBytes);
  return spec_of(cd_values[0]);
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t) {
  return {static_cast<unsigned>(element_bytes_of(spec, element_bytes))};
}

CodecSpec from_numcodecs(const Json& config) {
  // numcodecs treats 0 as 1: a plain copy.
  const std::int64_t element_bytes = config_integer(config, "elementsize", 4, {0, kElementRange.most}, "shuffle");
  return spec_of(element_bytes == 0 ? 1 : element_bytes);
}

Json to_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{"elementsize", element_bytes_of(spec, element_bytes)}};
}

Json to_zarr2(const CodecSpec& spec, std::size_t element_bytes) {
  return Json{{"id", "shuffle"}, {"elementsize", element_bytes_of(spec, element_bytes)}};
}

}  // namespace

constexpr CodecRow kShuffleRow{
    .name = "shuffle",
    .alias = {},
    .summary = "byte shuffle, as in HDF5 and numcodecs",
    .usage = kUsage,
    .bind = bind,
    .for_chunk = for_chunk,
    .parse = parse,
    .print = print,
    .hdf5_filter = 2,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
    .zarr2_id = "shuffle",
    .from_zarr2 = from_numcodecs,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.shuffle",
    .zarr3_alias = {},
    .from_zarr3 = from_numcodecs,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
