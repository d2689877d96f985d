// Every decoder, on bytes that an attacker chose.
//   selector:u8, room:u8, then what is to be decoded; the decoder may make 2^(room mod 17) bytes, or 0
// The selector counts through the ways in codec_setups.h; beyond them the parameters come from the input too.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "codec/registry.h"
#include "codec_setups.h"

namespace {

using namespace chunkwise;

// What a decoder may take beyond its limit.
constexpr std::size_t kSlackBytes = std::size_t{1} << 20;

// The first bytes as the parameters of an HDF5 filter: row:u8, number:u8, then four bytes each.
CodecSpec take_hdf5_parameters(ByteView& input) {
  std::vector<const CodecRow*> rows;
  for (const CodecRow& row : codec_rows()) {
    if (row.hdf5_filter != 0) rows.push_back(&row);
  }
  if (input.size() < 2) return rows.front()->from_hdf5({});
  const CodecRow& row = *rows[static_cast<std::size_t>(input[0]) % rows.size()];
  std::vector<unsigned> cd(static_cast<std::size_t>(input[1]) % 64);
  input = input.subspan(2);
  for (unsigned& value : cd) {
    for (int i = 0; i < 4 && !input.empty(); ++i, input = input.subspan(1)) {
      value |= static_cast<unsigned>(input.front()) << (8 * i);
    }
  }
  return row.from_hdf5(cd);
}

void decode(const CodecSpec& spec, ByteView encoded, std::size_t limit) {
  const std::unique_ptr<Codec> codec = find_codec(spec.name)->bind(spec, fuzz::kElementBytes);
  Bytes decoded;
  codec->decode(encoded, limit, decoded);
  if (decoded.size() > limit || decoded.capacity() > limit + kSlackBytes) std::abort();
  // What can be encoded again comes back.
  try {
    codec->require_lossless();
    Bytes again;
    Bytes result;
    if (!codec->encode_or_skip(decoded, again)) return;
    if (again.size() > codec->max_encoded_bytes(decoded.size())) std::abort();
    codec->decode(again, decoded.size(), result);
    if (as_text(result) != as_text(decoded)) std::abort();
  } catch (const Error& error) {
    if (error.code() != Code::unsupported) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<CodecSpec> specs = fuzz::codec_setups();
  if (size < 2) return 0;
  ByteView input = std::as_bytes(std::span(data, size));
  const auto selector = static_cast<std::size_t>(input[0]);
  const auto room = static_cast<unsigned>(input[1]) % 18;
  const std::size_t limit = room == 17 ? 0 : std::size_t{1} << room;
  input = input.subspan(2);
  try {
    const CodecSpec spec = selector < specs.size() ? specs[selector] : take_hdf5_parameters(input);
    // Of its own, so that a sanitizer sees any read beyond the end.
    const std::vector<std::byte> encoded(input.begin(), input.end());
    decode(spec, encoded, limit);
  } catch (const Error& error) {
    // Blosc may be asked for a compressor it was built without.
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
  return 0;
}
