// Codecs whose parameters come from JSON: the configuration, a zero byte, then what is to be decoded.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "codec/chain.h"
#include "codec/registry.h"

using namespace chunkwise;

namespace {

constexpr std::size_t kDecodedBytes = 4096;

// A configuration that is taken is written again, and means the same then.
void check(const CodecRow& row, const CodecSpec& spec, CodecSpec (*from)(const Json&),
           Json (*to)(const CodecSpec&, std::size_t)) {
  const std::unique_ptr<Codec> codec = row.bind(spec, 4);
  const CodecSpec again = from(parse_json(dump_json(to(spec, 4))));
  if (dump_json(to(again, 4)) != dump_json(to(spec, 4))) std::abort();
  static_cast<void>(row.print(spec));
  static_cast<void>(codec->max_encoded_bytes(kDecodedBytes));
}

void run(const Json& config, ByteView encoded) {
  const auto id = config.is_object() ? config.find("id") : config.end();
  if (!config.is_object() || id == config.end() || !id->is_string()) return;
  const std::string name = id->get<std::string>();
  CodecSpec spec;
  if (const CodecRow* row = find_codec_by_zarr2(name)) {
    spec = row->from_zarr2(config);
    check(*row, spec, row->from_zarr2, row->to_zarr2);
  } else if (const CodecRow* in_3 = find_codec_by_zarr3(name)) {
    spec = in_3->from_zarr3(config);
    if (in_3->for_chunk != nullptr) spec = in_3->for_chunk(spec, {{1024}, {ElementKind::float_, 4, ByteOrder::little}});
    check(*in_3, spec, in_3->from_zarr3, in_3->to_zarr3);
  } else {
    return;
  }
  const CodecChain chain({spec}, 4);
  CodecChain::Scratch scratch;
  if (chain.decode(encoded, kDecodedBytes, 0, scratch).size() != kDecodedBytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input = std::as_bytes(std::span(data, size));
  const std::string_view text = as_text(input);
  const std::size_t end = std::min(text.find('\0'), text.size());
  try {
    run(parse_json(text.substr(0, end)), input.subspan(std::min(end + 1, size)));
  } catch (const Error& error) {
    if (error.code() != Code::corrupt && error.code() != Code::unsupported) throw;
  }
  return 0;
}
