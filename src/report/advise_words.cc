#include "report/advise_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/sizes.h"

namespace chunkwise {

std::string bytes_words(double bytes) {
  return format_bytes(bytes < 1.8e19 ? static_cast<std::uint64_t>(std::llround(bytes)) : UINT64_MAX);
}

std::string brief_seconds(double seconds) {
  const auto figures = [](double value, const char* unit) {
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  };
  if (seconds < 0.9995) return figures(seconds * 1e3, "ms");
  if (seconds < 119.5) return figures(seconds, "s");
  if (seconds < 119.5 * 60) return figures(seconds / 60, "min");
  if (seconds < 95.5 * 3600) return figures(seconds / 3600, "h");
  return figures(seconds / 86400, "d");
}

std::string brief_bytes(double bytes) {
  std::string text = bytes_words(bytes);
  const auto dot = text.find('.');
  if (dot != std::string::npos && dot >= 3) text.erase(dot, 2);
  return text;
}

std::string ratio_words(double ratio) {
  return ratio < 9.95 ? fmt::format("{:.1f}", ratio) : count_words(std::round(ratio));
}

std::string count_words(double n) {
  return format_count(static_cast<std::int64_t>(std::min(std::round(n), 9e18)));
}

std::string chunk_words(const std::optional<Shape>& chunk) {
  return chunk ? fmt::format("{}", fmt::join(chunk->begin(), chunk->end(), "x")) : "contiguous";
}

double decoded_bytes(const Shape& shape, std::size_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const Index length : shape) bytes *= static_cast<double>(length);
  return bytes;
}

double gain_over(const AdviseReport::Layout& now, const AdviseReport::Layout& other) {
  return other.objective > 0 ? now.objective / other.objective : 1;
}

bool same_layout(const AdviseReport::Layout& a, const AdviseReport::Layout& b) {
  return a.chunk == b.chunk && a.shard == b.shard && (!a.chunk || a.codecs == b.codecs);
}

bool pays(const AdviseReport::Variable& variable, const Device& device) {
  const auto* now = variable.find(AdviseReport::Layout::Kind::current);
  const auto* pick = variable.find(AdviseReport::Layout::Kind::recommended);
  return now != nullptr && !same_layout(*now, *pick) && gain_over(*now, *pick) > device.error_factor;
}

std::size_t heaviest(const AdviseReport::Variable& variable, const AdviseReport::Layout& layout) {
  std::size_t heaviest = 0;
  const auto share = [&](std::size_t p) { return variable.patterns[p].weight * layout.costs[p].seconds; };
  for (std::size_t p = 1; p < layout.costs.size(); ++p) {
    if (share(p) > share(heaviest)) heaviest = p;
  }
  return heaviest;
}

}  // namespace chunkwise
