#include "codec/lzma_filters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "codec/config.h"

namespace chunkwise {
namespace {

constexpr IntegerRange kAny32{0, 0xFFFFFFFFLL};

bool is_lzma(lzma_vli id) {
  return id == LZMA_FILTER_LZMA1 || id == LZMA_FILTER_LZMA2;
}

std::uint32_t member(const Json& filter, const char* key, std::uint32_t otherwise, IntegerRange range = kAny32) {
  return static_cast<std::uint32_t>(config_integer(filter, key, std::int64_t{otherwise}, range, "lzma"));
}

LzmaFilter parse_filter(const Json& value) {
  if (!value.is_object()) throw Error(Code::corrupt, "codec 'lzma': a filter must be an object");
  if (!value.contains("id")) throw Error(Code::corrupt, "codec 'lzma': a filter has no id");
  const auto id = static_cast<lzma_vli>(config_integer(value, "id", -1, {0, INT64_MAX}, "lzma"));
  LzmaFilter filter;
  filter.id = id;
  if (is_lzma(id)) {
    filter = lzma_preset(id, member(value, "preset", LZMA_PRESET_DEFAULT));
    lzma_options_lzma& options = filter.lzma;
    options.dict_size = member(value, "dict_size", options.dict_size);
    options.lc = member(value, "lc", options.lc);
    options.lp = member(value, "lp", options.lp);
    options.pb = member(value, "pb", options.pb);
    options.mode = static_cast<lzma_mode>(member(value, "mode", options.mode, {LZMA_MODE_FAST, LZMA_MODE_NORMAL}));
    options.nice_len = member(value, "nice_len", options.nice_len);
    options.mf = static_cast<lzma_match_finder>(member(value, "mf", options.mf, {LZMA_MF_HC3, LZMA_MF_BT4}));
    options.depth = member(value, "depth", options.depth);
  } else if (id == LZMA_FILTER_DELTA) {
    filter.delta.type = LZMA_DELTA_TYPE_BYTE;
    filter.delta.dist = member(value, "dist", 1, {LZMA_DELTA_DIST_MIN, LZMA_DELTA_DIST_MAX});
  } else {
    filter.bcj.start_offset = member(value, "start_offset", 0);
  }
  if (lzma_filter_encoder_is_supported(id) == 0 || lzma_filter_decoder_is_supported(id) == 0) {
    throw Error(Code::unsupported, fmt::format("codec 'lzma': liblzma has no filter {}", id));
  }
  return filter;
}

}  // namespace

LzmaFilter lzma_preset(lzma_vli id, std::uint32_t preset) {
  LzmaFilter filter;
  filter.id = id;
  if (lzma_lzma_preset(&filter.lzma, preset) != 0) {
    throw Error(Code::corrupt, fmt::format("codec 'lzma': there is no preset {}", preset));
  }
  return filter;
}

std::vector<LzmaFilter> parse_lzma_filters(const Json& list) {
  if (!list.is_array() || list.empty() || list.size() > LZMA_FILTERS_MAX) {
    throw Error(Code::corrupt, fmt::format("codec 'lzma': filters must be a list of 1 to {}", LZMA_FILTERS_MAX));
  }
  std::vector<LzmaFilter> filters;
  for (const Json& each : list) filters.push_back(parse_filter(each));
  const LzmaChain chain(filters, std::size_t{1} << 20);
  if (lzma_raw_encoder_memusage(chain.get()) == UINT64_MAX || lzma_raw_decoder_memusage(chain.get()) == UINT64_MAX) {
    throw Error(Code::corrupt, "codec 'lzma': liblzma has no such chain of filters");
  }
  return filters;
}

std::uint32_t lzma_dictionary_bytes(std::uint32_t declared_bytes, std::size_t data_bytes) {
  const std::size_t enough = std::max<std::size_t>(data_bytes, LZMA_DICT_SIZE_MIN);
  return static_cast<std::uint32_t>(std::min<std::size_t>(std::max(declared_bytes, LZMA_DICT_SIZE_MIN), enough));
}

LzmaChain::LzmaChain(const std::vector<LzmaFilter>& filters, std::size_t data_bytes) : filters_(filters) {
  std::size_t n = 0;
  for (LzmaFilter& filter : filters_) {
    filter.lzma.dict_size = lzma_dictionary_bytes(filter.lzma.dict_size, data_bytes);
    void* options = &filter.bcj;
    if (is_lzma(filter.id)) options = &filter.lzma;
    if (filter.id == LZMA_FILTER_DELTA) options = &filter.delta;
    chain_[n++] = {filter.id, options};
  }
  chain_[n] = {LZMA_VLI_UNKNOWN, nullptr};
}

}  // namespace chunkwise
