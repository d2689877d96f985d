#include "codec/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

template <typename Predicate>
const CodecRow* find_row(Predicate matches) {
  const auto rows = codec_rows();
  const auto found = std::find_if(rows.begin(), rows.end(), matches);
  return found != rows.end() ? &*found : nullptr;
}

CodecSpec parse_codec(std::string_view text, std::string_view whole) {
  const std::vector<std::string_view> parts = split(text, ':');
  const std::string_view name = parts.front();
  const CodecRow* row = find_codec_by_request(name);
  if (row == nullptr) {
    std::vector<std::string> known;
    for (const CodecRow& each : codec_rows()) {
      if (each.parse == nullptr) continue;
      known.emplace_back(each.name);
      if (!each.alias.empty()) known.emplace_back(each.alias);
    }
    known.emplace_back("none");
    if (name.empty()) {
      throw Error(Code::usage, fmt::format("codec list '{}' has an empty name", whole), suggest("", known));
    }
    throw Error(Code::usage, fmt::format("unknown codec '{}'", name), suggest(name, known));
  }
  if (row->parse == nullptr) {
    throw Error(Code::usage, fmt::format("codec '{}' can be kept where a dataset has it, but not asked for", name),
                "leave --codec out, or choose another one, such as shuffle,deflate:1");
  }
  try {
    return row->parse(std::span(parts).subspan(1));
  } catch (Error& error) {
    throw error.in(fmt::format("codec '{}'", text));
  }
}

}  // namespace

std::span<const CodecRow> codec_rows() {
  static const CodecRow rows[] = {
      kShuffleRow,
      kDeflateRow,
      kGzipRow,
      kZstdRow,
      kLz4Row,
      kBloscRow,
      kHdf5Lz4Row,
      kBz2Row,
      kLzfRow,
      kBitshuffleRow,
      kSzipRow,
      kNbitRow,
      kScaleOffsetRow,
      kBitgroomRow,
      kGranularBitroundRow,
      kFletcher32Row,
      kCrc32cRow,
      kCrc32Row,
      kAdler32Row,
      kJenkinsRow,
      kLzmaRow,
      kBase64Row,
      kDeltaRow,
      kPackBitsRow,
      kZarr3PackBitsRow,
      kFixedScaleOffsetRow,
      kQuantizeRow,
      kAsTypeRow,
      kBitroundRow,
      kCategorizeRow,
      kByteswapRow,
  };
  return rows;
}

const CodecRow* find_codec(std::string_view name) {
  return find_row([&](const CodecRow& row) { return row.name == name; });
}

const CodecRow* find_codec_by_request(std::string_view word) {
  return find_row([&](const CodecRow& row) { return !word.empty() && (row.name == word || row.alias == word); });
}

const CodecRow* find_codec_by_hdf5(int filter) {
  return find_row([&](const CodecRow& row) { return row.hdf5_filter != 0 && row.hdf5_filter == filter; });
}

const CodecRow* find_codec_by_zarr2(std::string_view id) {
  return find_row([&](const CodecRow& row) { return !row.zarr2_id.empty() && row.zarr2_id == id; });
}

const CodecRow* find_codec_by_zarr3(std::string_view name) {
  return find_row([&](const CodecRow& row) {
    return !row.zarr3_name.empty() && !name.empty() && (row.zarr3_name == name || row.zarr3_alias == name);
  });
}

CodecRole role_of(const CodecSpec& spec) {
  const CodecRow* row = find_codec(spec.name);
  return row != nullptr ? row->role : CodecRole::compressor;
}

Elements encoded_elements(const CodecSpec& spec, const Elements& decoded) {
  const CodecRow* row = find_codec(spec.name);
  return row != nullptr && row->encoded_elements != nullptr ? row->encoded_elements(spec, decoded) : decoded;
}

CodecSpecs for_chunk(const CodecSpecs& specs, const ChunkTraits& traits) {
  CodecSpecs result = specs;
  ChunkTraits seen = traits;
  for (CodecSpec& spec : result) {
    const CodecRow* row = find_codec(spec.name);
    if (row != nullptr && row->for_chunk != nullptr) spec = row->for_chunk(spec, seen);
    seen.elements = encoded_elements(spec, seen.elements);
  }
  return result;
}

CodecSpecs parse_codecs(std::string_view text) {
  CodecSpecs specs;
  if (text == "none") return specs;
  for (const std::string_view part : split(text, ',')) specs.push_back(parse_codec(part, text));
  return specs;
}

}  // namespace chunkwise
