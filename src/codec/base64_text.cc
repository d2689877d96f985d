// Canonical "base64": numcodecs "base64". The bytes as a text.
#include <fmt/format.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kBase64{"base64", "base64  the bytes as a text, a third longer", {}, "base64"};

class Base64 final : public Codec {
 public:
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return base64_characters(decoded_bytes); }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    encode_base64(decoded, reinterpret_cast<char*>(encoded.data()));
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    const std::string_view text = as_text(encoded);
    const std::size_t size = base64_bytes(text);
    if (size > max_decoded_bytes) throw_decoded_too_large("base64", max_decoded_bytes);
    decoded.resize_discard(size);
    if (!decode_base64(text, decoded.data())) throw Error(Code::corrupt, "base64 data is damaged or ends early");
  }
};

std::unique_ptr<Codec> bind(const CodecSpec&, std::size_t) {
  return std::make_unique<Base64>();
}

}  // namespace

constexpr CodecRow kBase64Row{
    .name = kBase64.codec,
    .summary = "the bytes as a text, as in numcodecs",
    .usage = kBase64.usage,
    .bind = bind,
    .parse = parse_by<kBase64>,
    .print = print_by<kBase64>,
    .zarr2_id = kBase64.zarr2_id,
    .from_zarr2 = from_json_by<kBase64>,
    .to_zarr2 = to_zarr2_by<kBase64>,
};

}  // namespace chunkwise
