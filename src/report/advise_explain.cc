// The time law with the numbers put in.
#include <fmt/format.h>

#include <cmath>

#include "base/sizes.h"
#include "report/advise_report.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

std::string count_text(double n) {
  if (n < 9e15 && std::abs(n - std::round(n)) < 1e-9 * std::max(1.0, n)) return format_count(std::llround(n));
  return fmt::format("{:.2f}", n);
}

std::string bytes_text(double bytes) {
  return format_bytes(bytes < 1.8e19 ? static_cast<std::uint64_t>(std::llround(bytes)) : UINT64_MAX);
}

std::string rate_text(double Bps) {
  if (!(Bps < 1e18)) return "no cost";
  return format_bytes(static_cast<std::uint64_t>(std::llround(Bps))) + "/s";
}

std::string cost_text(const AdviseReport& report, const AdviseReport::Variable& variable,
                      const AdviseReport::Layout& layout, std::size_t p) {
  const Device& device = report.device;
  const Cost& cost = layout.costs[p];
  const Requests& r = cost.requests;
  const CostTerms& t = cost.terms;
  const DecodeCost decode = decode_cost(layout.chunk ? layout.codecs : CodecSpecs{});
  std::string chunk = "contiguous";
  if (layout.chunk) chunk = fmt::format("{}", fmt::join(layout.chunk->begin(), layout.chunk->end(), "x"));
  std::string text = fmt::format("{}, {} ({}):\n", variable.patterns[p].name, layout.name, chunk);
  const auto line = [&](const char* name, double seconds, const std::string& how) {
    text += wrap(fmt::format("  {:<7} {:>10}  {}", name, format_seconds(seconds), how), 21);
  };
  line("open", t.open_s, fmt::format("to the metadata on {}", device.name));
  if (t.index_s > 0) {
    line("index", t.index_s,
         fmt::format("{} {} x {}", count_text(r.index_reads),
                     layout.shard ? "indexes of shards" : "nodes of the chunk index",
                     format_seconds(t.index_s / r.index_reads)));
  }
  const bool one = r.requests < 1.5;
  const std::string jumps = one ? fmt::format("1 read, {} until it begins", format_seconds(cost.jumps_s))
                                : fmt::format("{} reads, {} on average until each begins", count_text(r.requests),
                                              format_seconds(cost.jumps_s / r.requests));
  const std::string stream = fmt::format("{} at {}", bytes_text(r.bytes), rate_text(device.stream_Bps));
  line("device", t.device_s,
       device.in_flight > 1 ? fmt::format("the greater of: {}, {}, in rounds of {}; {} at {}", jumps, stream,
                                          device.in_flight.value, bytes_text(r.bytes), rate_text(device.total_Bps))
                            : fmt::format("{}; {}", jumps, stream));
  line("chunks", t.chunks_s, fmt::format("{} x {}", count_text(r.chunks), format_seconds(t.chunks_s / r.chunks)));
  if (t.decode_s > 0) {
    const double decode_Bps = device.decode_Bps > 0 ? device.decode_Bps.value : device.codec_speed / decode.s_per_byte;
    line("decode", t.decode_s,
         fmt::format("{} at {}{}", bytes_text(r.decoded_bytes), rate_text(decode_Bps),
                     device.decode_Bps == 0 && decode.estimated ? " (a codec of unknown speed)" : ""));
  }
  line("copy", t.copy_s, fmt::format("{} wanted at {}", bytes_text(r.useful_bytes), rate_text(device.copy_Bps)));
  line("sum", cost.seconds,
       fmt::format("between {} and {}", format_seconds(cost.seconds_low), format_seconds(cost.seconds_high)));
  return text;
}

/// Sizes, memory and the search with their numbers.
std::string size_text(const AdviseReport::Variable& variable, const AdviseReport::Layout& layout) {
  const double data_bytes = layout.size_bytes - layout.padding_bytes - layout.index_bytes;
  std::string text =
      fmt::format("size, {}: {} = {} of data + {} of padding + {} of index", layout.name, bytes_text(layout.size_bytes),
                  bytes_text(data_bytes), bytes_text(layout.padding_bytes), bytes_text(layout.index_bytes));
  if (layout.size_is_sampled)
    text += fmt::format(", between {} and {}", bytes_text(layout.size_low_bytes), bytes_text(layout.size_high_bytes));
  text += "\n";
  if (layout.chunk)
    text += fmt::format("client, {}: {} held while reading\n", layout.name, bytes_text(layout.client_bytes));
  if (layout.n_objects > 1) text += fmt::format("objects, {}: {}\n", layout.name, count_text(layout.n_objects));
  if (layout.kind == AdviseReport::Layout::Kind::recommended) {
    text += layout.proven ? "search: nothing in the lattice of chunk lengths is better by more than 1 %\n"
                          : "search: the best found; the lattice was too large to rule out better ones\n";
    if (variable.rewrite) {
      const auto& rewrite = *variable.rewrite;
      text += fmt::format("rewrite: {} = the greater of the device's and {} cores' time; the source is read {} times\n",
                          format_seconds(rewrite.seconds), rewrite.n_threads, count_text(rewrite.passes));
      if (rewrite.pays_after > 0)
        text += fmt::format("pays after: {} / seconds gained by all accesses x weight of {} = {}\n",
                            format_seconds(rewrite.seconds), variable.patterns[rewrite.pattern].name,
                            count_text(rewrite.pays_after));
    }
  }
  std::string wrapped;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    wrapped += wrap(text.substr(begin, end - begin), 2);
    begin = end + 1;
  }
  return wrapped;
}

}  // namespace

std::string explain_text(const AdviseReport& report, const AdviseReport::Variable& variable) {
  std::string text = "T = open + index + device + chunks + decode + copy\n";
  for (const auto& layout : variable.layouts) {
    if (layout.kind == AdviseReport::Layout::Kind::policy) continue;
    for (std::size_t p = 0; p < variable.patterns.size(); ++p) text += cost_text(report, variable, layout, p);
    text += size_text(variable, layout);
  }
  return text;
}

}  // namespace chunkwise
