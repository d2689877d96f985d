// The chain of filters inside liblzma, as Python and so numcodecs spell it: a list of {"id": ..., "dict_size": ...}.
#pragma once

#include <lzma.h>

#include <array>
#include <cstddef>
#include <vector>

#include "base/json_fwd.h"

namespace chunkwise {

/// Options of one filter; which of them count the id says.
struct LzmaFilter {
  lzma_vli id = LZMA_FILTER_LZMA2;
  lzma_options_lzma lzma{};
  lzma_options_delta delta{};
  lzma_options_bcj bcj{};
};

/// Throws Error{corrupt} for what liblzma would not take, Error{unsupported} for a filter it does not have here.
std::vector<LzmaFilter> parse_lzma_filters(const Json& list);
/// The one filter that a preset stands for. Throws Error{corrupt} if there is no such preset.
LzmaFilter lzma_preset(lzma_vli id, std::uint32_t preset);

/// No dictionary needs to be longer than the data, whatever it was declared as.
std::uint32_t lzma_dictionary_bytes(std::uint32_t declared_bytes, std::size_t data_bytes);

/// The form that liblzma takes, for so much data.
class LzmaChain {
 public:
  LzmaChain(const std::vector<LzmaFilter>& filters, std::size_t data_bytes);
  LzmaChain(const LzmaChain&) = delete;
  LzmaChain& operator=(const LzmaChain&) = delete;

  const lzma_filter* get() const { return chain_.data(); }

 private:
  std::vector<LzmaFilter> filters_;
  std::array<lzma_filter, LZMA_FILTERS_MAX + 1> chain_{};
};

}  // namespace chunkwise
