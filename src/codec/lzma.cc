// Canonical "lzma": numcodecs "lzma", zarr 3 "numcodecs.lzma". In the forms that Python's module has: .xz, .lzma
// ("alone") and raw, which has no header, so that its filters stand in the metadata.
//
// A decoder allocates the dictionary that a header declares, up to 4 GiB. Here no more than the data can need: the
// headers are read here and the sizes in them reduced.
#include <lzma.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "codec/endian.h"
#include "codec/lzma_filters.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

// As Python numbers them.
enum class Format { detect, xz, alone, raw };

constexpr Parameter kPreset{.key = "preset",
                            .otherwise = LZMA_PRESET_DEFAULT,
                            .asked = {0, 9},
                            .stored = {0, 0xFFFFFFFFLL},
                            .member = "preset"};
constexpr Parameter kFormat{.key = "format", .otherwise = 1, .asked = {0, 3}, .argument = false, .member = "format"};
constexpr Parameter kCheck{.key = "check", .otherwise = -1, .asked = {-1, 15}, .argument = false, .member = "check"};
constexpr Parameter kRows[] = {kFormat, kCheck, kPreset};
constexpr Parameters kLzma{"lzma", "lzma[:PRESET]  .xz stream, preset 0-9 (default 6)", kRows, "lzma"};
constexpr const char* kFilters = "filters";  // as JSON

const std::uint8_t* units(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);
}
std::uint8_t* units(std::byte* bytes) {
  return reinterpret_cast<std::uint8_t*>(bytes);
}

void check(lzma_ret result, std::size_t max_decoded_bytes) {
  switch (result) {
    case LZMA_OK:
    case LZMA_STREAM_END:
      return;
    case LZMA_MEM_ERROR:
      throw Error(Code::budget, "no memory for an lzma decoder");
    case LZMA_BUF_ERROR:
      throw_decoded_too_large("lzma", max_decoded_bytes);
    case LZMA_OPTIONS_ERROR:
      throw Error(Code::unsupported, "lzma data has options that liblzma does not know");
    default:
      throw Error(Code::corrupt, "lzma data is damaged or ends early");
  }
}

// What is left to read, and what has been made.
struct Progress {
  const std::uint8_t* in;
  std::size_t in_bytes;
  std::uint8_t* out;
  std::size_t out_bytes;
  std::size_t in_at = 0;
  std::size_t out_at = 0;

  void need(std::size_t n_bytes) const {
    if (n_bytes > in_bytes - in_at) throw Error(Code::corrupt, "lzma data is damaged or ends early");
  }
};

using FilterArray = std::array<lzma_filter, LZMA_FILTERS_MAX + 1>;

// The options that liblzma has allocated.
struct FreeOptions {
  FilterArray& filters;
  ~FreeOptions() {
    for (const lzma_filter& filter : filters) std::free(filter.options);
  }
};

void decode_xz_block(lzma_check check_type, lzma_index_hash* index, Progress& at) {
  FilterArray filters{};
  lzma_block block{};
  block.check = check_type;
  block.filters = filters.data();
  block.header_size = lzma_block_header_size_decode(at.in[at.in_at]);
  at.need(block.header_size);
  check(lzma_block_header_decode(&block, nullptr, at.in + at.in_at), at.out_bytes);
  const FreeOptions owned{filters};
  for (const lzma_filter& filter : filters) {
    if (filter.id != LZMA_FILTER_LZMA2) continue;
    auto* const options = static_cast<lzma_options_lzma*>(filter.options);
    options->dict_size = lzma_dictionary_bytes(options->dict_size, at.out_bytes);
  }
  at.in_at += block.header_size;
  check(lzma_block_buffer_decode(&block, nullptr, at.in, &at.in_at, at.in_bytes, at.out, &at.out_at, at.out_bytes),
        at.out_bytes);
  check(lzma_index_hash_append(index, lzma_block_unpadded_size(&block), block.uncompressed_size), at.out_bytes);
}

void decode_xz_stream(Progress& at) {
  lzma_stream_flags header{};
  at.need(LZMA_STREAM_HEADER_SIZE);
  check(lzma_stream_header_decode(&header, at.in + at.in_at), at.out_bytes);
  at.in_at += LZMA_STREAM_HEADER_SIZE;
  const auto end_hash = [](lzma_index_hash* hash) { lzma_index_hash_end(hash, nullptr); };
  const std::unique_ptr<lzma_index_hash, decltype(end_hash)> index(lzma_index_hash_init(nullptr, nullptr), end_hash);
  if (!index) throw Error(Code::budget, "no memory for an lzma decoder");
  // The index begins with a zero, which is no size of a block's header.
  for (at.need(1); at.in[at.in_at] != 0; at.need(1)) decode_xz_block(header.check, index.get(), at);
  if (lzma_index_hash_decode(index.get(), at.in, &at.in_at, at.in_bytes) != LZMA_STREAM_END) {
    throw Error(Code::corrupt, "the index of lzma data contradicts its blocks");
  }
  lzma_stream_flags footer{};
  at.need(LZMA_STREAM_HEADER_SIZE);
  check(lzma_stream_footer_decode(&footer, at.in + at.in_at), at.out_bytes);
  at.in_at += LZMA_STREAM_HEADER_SIZE;
  if (footer.backward_size != lzma_index_hash_size(index.get()) ||
      lzma_stream_flags_compare(&header, &footer) != LZMA_OK) {
    throw Error(Code::corrupt, "the footer of lzma data contradicts its header");
  }
}

bool starts_xz(const Progress& at) {
  constexpr std::array<std::uint8_t, 6> kMagic{0xFD, '7', 'z', 'X', 'Z', 0};
  return at.in_bytes - at.in_at >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), at.in + at.in_at);
}

// One or more streams with zeros between them. What follows and is no stream is ignored, as Python does.
void decode_xz(Progress& at) {
  do {
    decode_xz_stream(at);
    while (at.in_at < at.in_bytes && at.in[at.in_at] == 0) ++at.in_at;
  } while (starts_xz(at));
}

void decode_alone(Progress& at) {
  constexpr std::size_t kHeaderBytes = 13;
  at.need(kHeaderBytes);
  std::array<std::uint8_t, kHeaderBytes> header;
  std::memcpy(header.data(), at.in + at.in_at, kHeaderBytes);
  auto* const dictionary = reinterpret_cast<std::byte*>(header.data() + 1);
  store_little(lzma_dictionary_bytes(load_little<std::uint32_t>(dictionary), at.out_bytes), dictionary);

  lzma_stream stream = LZMA_STREAM_INIT;
  const auto end_stream = [](lzma_stream* s) { lzma_end(s); };
  const std::unique_ptr<lzma_stream, decltype(end_stream)> owned(&stream, end_stream);
  check(lzma_alone_decoder(&stream, UINT64_MAX), at.out_bytes);
  stream.next_in = header.data();
  stream.avail_in = kHeaderBytes;
  stream.next_out = at.out;
  stream.avail_out = at.out_bytes;
  // Where all room is used, one byte more tells whether the stream ends there.
  std::uint8_t beyond = 0;
  bool is_beyond = false;
  for (bool in_header = true;;) {
    if (stream.avail_in == 0 && in_header) {
      in_header = false;
      stream.next_in = at.in + at.in_at + kHeaderBytes;
      stream.avail_in = at.in_bytes - at.in_at - kHeaderBytes;
    }
    if (stream.avail_out == 0) {
      if (is_beyond) throw_decoded_too_large("lzma", at.out_bytes);
      is_beyond = true;
      stream.next_out = &beyond;
      stream.avail_out = 1;
    }
    const bool all_is_in = stream.avail_in == 0 && !in_header;
    const lzma_ret result = lzma_code(&stream, LZMA_RUN);
    if (result == LZMA_STREAM_END) break;
    if (result == LZMA_BUF_ERROR || (result == LZMA_OK && all_is_in)) {
      throw Error(Code::corrupt, "lzma data is damaged or ends early");
    }
    check(result, at.out_bytes);
  }
  if (is_beyond && stream.avail_out == 0) throw_decoded_too_large("lzma", at.out_bytes);
  at.out_at = stream.total_out;
}

class Lzma final : public Codec {
 public:
  Lzma(Format format, lzma_check check_type, std::vector<LzmaFilter> filters)
      : format_(format), check_(check_type), filters_(std::move(filters)) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    // What does not shrink is stored in pieces of 64 KiB with a few bytes before each. The coder of "alone" has no such
    // pieces; its estimates cost at most an eighth.
    const std::size_t stored = decoded_bytes + decoded_bytes / 1024 + 4096;
    return filters_.back().id == LZMA_FILTER_LZMA1 ? stored + decoded_bytes / 4 + 65536 : stored;
  }

  std::size_t scratch_bytes(std::size_t decoded_bytes) const override {
    const LzmaChain chain(filters_, decoded_bytes);
    return static_cast<std::size_t>(
        std::max(lzma_raw_encoder_memusage(chain.get()), lzma_raw_decoder_memusage(chain.get())));
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    const LzmaChain chain(filters_, decoded.size());
    std::size_t size = 0;
    const std::uint8_t* const from = units(decoded.data());
    std::uint8_t* const to = units(encoded.data());
    lzma_ret result = LZMA_OPTIONS_ERROR;
    if (format_ == Format::xz) {
      // liblzma only reads the chain.
      result = lzma_stream_buffer_encode(const_cast<lzma_filter*>(chain.get()), check_, nullptr, from, decoded.size(),
                                         to, &size, encoded.size());
    } else if (format_ == Format::raw) {
      result = lzma_raw_buffer_encode(chain.get(), nullptr, from, decoded.size(), to, &size, encoded.size());
    } else if (format_ == Format::alone) {
      result = encode_alone(chain, decoded, encoded, size);
    }
    if (result == LZMA_MEM_ERROR) throw Error(Code::budget, "no memory for an lzma encoder");
    if (result != LZMA_OK) {
      throw Error(Code::unsupported,
                  fmt::format("liblzma cannot encode {} bytes so ({})", decoded.size(), static_cast<int>(result)),
                  "choose another codec with --codec");
    }
    encoded.resize(size);
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    decoded.resize_discard(max_decoded_bytes);
    // The library wants a valid pointer even for no bytes.
    std::byte nowhere{};
    Progress at{units(encoded.data()), encoded.size(), units(decoded.empty() ? &nowhere : decoded.data()),
                decoded.size()};
    if (format_ == Format::raw) {
      const LzmaChain chain(filters_, max_decoded_bytes);
      check(
          lzma_raw_buffer_decode(chain.get(), nullptr, at.in, &at.in_at, at.in_bytes, at.out, &at.out_at, at.out_bytes),
          max_decoded_bytes);
    } else if (format_ == Format::xz || (format_ == Format::detect && starts_xz(at))) {
      decode_xz(at);
    } else {
      decode_alone(at);
    }
    decoded.resize(at.out_at);
  }

 private:
  static lzma_ret encode_alone(const LzmaChain& chain, ByteView decoded, Bytes& encoded, std::size_t& size) {
    lzma_stream stream = LZMA_STREAM_INIT;
    const auto end_stream = [](lzma_stream* s) { lzma_end(s); };
    const std::unique_ptr<lzma_stream, decltype(end_stream)> owned(&stream, end_stream);
    const auto* const options = static_cast<const lzma_options_lzma*>(chain.get()->options);
    if (const lzma_ret result = lzma_alone_encoder(&stream, options); result != LZMA_OK) return result;
    stream.next_in = units(decoded.data());
    stream.avail_in = decoded.size();
    stream.next_out = units(encoded.data());
    stream.avail_out = encoded.size();
    const lzma_ret result = lzma_code(&stream, LZMA_FINISH);
    size = stream.total_out;
    return result == LZMA_STREAM_END ? LZMA_OK : result == LZMA_OK ? LZMA_BUF_ERROR : result;
  }

  Format format_;
  lzma_check check_;
  std::vector<LzmaFilter> filters_;
};

// ---- spellings

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  const auto format = static_cast<Format>(kFormat.integer(spec));
  const std::int64_t check_type = kCheck.integer(spec);
  const std::string listed = spec.text(kFilters, "");
  std::vector<LzmaFilter> filters;
  if (!listed.empty()) {
    filters = parse_lzma_filters(parse_json(listed));
  } else {
    if (format == Format::raw) throw Error(Code::corrupt, "codec 'lzma': the raw format has no filters");
    filters = {lzma_preset(format == Format::alone ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2,
                           static_cast<std::uint32_t>(kPreset.integer(spec)))};
  }
  const bool fits = format == Format::raw || (filters.back().id == LZMA_FILTER_LZMA1) == (format == Format::alone);
  if (!fits || (format == Format::alone && filters.size() > 1)) {
    throw Error(Code::corrupt, "codec 'lzma': the filters do not belong to the format");
  }
  const auto known = check_type < 0 ? LZMA_CHECK_CRC64 : static_cast<lzma_check>(check_type);
  if (lzma_check_is_supported(known) == 0) {
    throw Error(Code::unsupported, fmt::format("codec 'lzma': liblzma has no check {}", check_type));
  }
  return std::make_unique<Lzma>(format, known, std::move(filters));
}

CodecSpec from_json(const Json& config) {
  const auto is_told = [&](const char* key) {
    return config.is_object() && config.contains(key) && !config.at(key).is_null();
  };
  CodecSpec spec = from_members(kLzma, config);
  if (is_told(kFilters)) spec.params[kFilters] = dump_json(config.at(kFilters));
  if (is_told(kFilters) || !is_told(kPreset.member)) spec.params.erase(kPreset.key);
  bind(spec, 1);
  return spec;
}

// Filters and a preset exclude each other; neither need be told.
void put_filters(const CodecSpec& spec, Json& config) {
  const std::string listed = spec.text(kFilters, "");
  config[kFilters] = listed.empty() ? Json() : parse_json(listed);
  if (!spec.params.contains(kPreset.key)) config[kPreset.member] = nullptr;
}

Json to_zarr2(const CodecSpec& spec, std::size_t) {
  Json config = to_numcodecs(kLzma, spec);
  put_filters(spec, config);
  return config;
}

Json to_zarr3(const CodecSpec& spec, std::size_t) {
  Json config = to_members(kLzma, spec);
  put_filters(spec, config);
  return config;
}

}  // namespace

constexpr CodecRow kLzmaRow{
    .name = kLzma.codec,
    .alias = "xz",
    .summary = "LZMA, as in numcodecs",
    .usage = kLzma.usage,
    .bind = bind,
    .parse = parse_by<kLzma>,
    .print = print_by<kLzma>,
    .zarr2_id = kLzma.zarr2_id,
    .from_zarr2 = from_json,
    .to_zarr2 = to_zarr2,
    .zarr3_name = "numcodecs.lzma",
    .from_zarr3 = from_json,
    .to_zarr3 = to_zarr3,
};

}  // namespace chunkwise
