// Canonical "byteswap": numbers in the other byte order. Zarr 3 says so with the endian of "bytes", where a codec
// before it makes numbers of a type of its own.
#include <fmt/format.h>

#include "base/error.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameter kRows[] = {
    {.key = "element_bytes", .otherwise = 1, .asked = {1, 8}, .argument = false},
};
constexpr Parameters kByteswap{"byteswap", "byteswap  kept where a dataset has it, not to be asked for", kRows};

template <typename U>
void swap_all(ByteView from, std::byte* to) {
  for (std::size_t at = 0; at < from.size(); at += sizeof(U)) store_big(load_little<U>(from.data() + at), to + at);
}

class Byteswap final : public Codec {
 public:
  explicit Byteswap(std::size_t element_bytes) : element_bytes_(element_bytes) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return decoded_bytes; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() % element_bytes_ != 0) {
      throw Error(Code::unsupported,
                  fmt::format("{} bytes are no whole numbers of {}", decoded.size(), element_bytes_));
    }
    swap(decoded, encoded);
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() > max_decoded_bytes) throw_decoded_too_large("byteswap", max_decoded_bytes);
    if (encoded.size() % element_bytes_ != 0) {
      throw Error(Code::corrupt, fmt::format("{} bytes are no whole numbers of {}", encoded.size(), element_bytes_));
    }
    swap(encoded, decoded);
  }

 private:
  void swap(ByteView from, Bytes& to) const {
    to.resize_discard(from.size());
    switch (element_bytes_) {
      case 2:
        return swap_all<std::uint16_t>(from, to.data());
      case 4:
        return swap_all<std::uint32_t>(from, to.data());
      case 8:
        return swap_all<std::uint64_t>(from, to.data());
      default:
        return swap_all<std::uint8_t>(from, to.data());
    }
  }

  std::size_t element_bytes_;
};

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  const auto bytes = static_cast<std::size_t>(kRows[0].integer(spec));
  CHUNKWISE_CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  return std::make_unique<Byteswap>(bytes);
}

Elements swapped_elements(const CodecSpec&, const Elements& decoded) {
  Elements swapped = decoded;
  swapped.byte_order = decoded.byte_order == ByteOrder::little ? ByteOrder::big : ByteOrder::little;
  return swapped;
}

}  // namespace

constexpr CodecRow kByteswapRow{
    .name = kByteswap.codec,
    .summary = "the other byte order after codecs of numbers, as zarr 3 has it",
    .usage = kByteswap.usage,
    .role = CodecRole::arranges,
    .bind = bind,
    .encoded_elements = swapped_elements,
    .print = print_by<kByteswap>,
};

}  // namespace chunkwise
