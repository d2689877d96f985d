#include "codec_setups.h"

#include <string>

#include "base/json.h"
#include "codec/registry.h"

namespace chunkwise::fuzz {
namespace {

void add_json(std::vector<CodecSpec>& specs, const char* config) {
  const Json json = parse_json(config);
  specs.push_back(find_codec_by_zarr2(json.at("id").get<std::string>())->from_zarr2(json));
}

}  // namespace

std::vector<CodecSpec> codec_setups() {
  std::vector<CodecSpec> specs;
  for (const CodecRow& row : codec_rows()) {
    if (row.parse != nullptr) specs.push_back(row.parse({}));
  }
  for (const char* text : {"bitshuffle:none", "bitshuffle:zstd", "szip:ec:32", "szip:nn:2"}) {
    specs.push_back(parse_codecs(text).front());
  }
  for (const char* config :
       {R"({"id": "lzma", "format": 0})", R"({"id": "lzma", "format": 2})",
        R"({"id": "lzma", "format": 3, "filters": [{"id": 33, "preset": 9}]})",
        R"({"id": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 4}, {"id": 33}]})",
        R"({"id": "lzma", "format": 3, "filters": [{"id": 4611686018427387905}]})",
        R"({"id": "crc32", "location": "end"})", R"({"id": "crc32c", "location": "start"})",
        R"({"id": "delta", "dtype": ">i2", "astype": "<f2"})", R"({"id": "delta", "dtype": "<f2", "astype": "<f4"})",
        R"({"id": "delta", "dtype": "|b1", "astype": "<f8"})", R"({"id": "delta", "dtype": "<u8", "astype": "<f8"})",
        R"({"id": "fixedscaleoffset", "scale": 0, "offset": -7.5, "dtype": "<f4", "astype": "<i2"})",
        R"({"id": "fixedscaleoffset", "scale": 10, "offset": 1e300, "dtype": "<i4", "astype": "<f2"})",
        R"({"id": "quantize", "digits": 2, "dtype": "<f8", "astype": "<f2"})",
        R"({"id": "astype", "encode_dtype": "<f8", "decode_dtype": "|i1"})",
        R"({"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<u8"})",
        R"({"id": "categorize", "labels": ["a", "bc", "\u20ac"], "dtype": "<U2", "astype": "<i2"})",
        R"({"id": "bitround", "keepbits": 3})"}) {
    add_json(specs, config);
  }
  for (const char* config : {"{}", R"({"padding_encoding": "first_byte", "first_bit": 3, "last_bit": 21})",
                             R"({"padding_encoding": "last_byte"})"}) {
    CodecSpec spec = find_codec_by_zarr3("packbits")->from_zarr3(parse_json(config));
    spec.params["dtype"] = std::string("<i4");
    specs.push_back(std::move(spec));
  }
  specs.push_back({"byteswap", {{"element_bytes", std::int64_t{4}}}});
  return specs;
}

}  // namespace chunkwise::fuzz
