// What the layouts mean for the reader.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/advise_words.h"
#include "report/text_table.h"

namespace chunkwise {
namespace {

using Layout = AdviseReport::Layout;
using Variable = AdviseReport::Variable;

bool is_prime(std::uint64_t n) {
  for (std::uint64_t i = 2; i * i <= n; ++i) {
    if (n % i == 0) return false;
  }
  return n > 1;
}

/// Slots of HDF5's chunk cache: a prime well above the number of chunks that it holds.
std::uint64_t n_slots(double n_chunks) {
  auto n = static_cast<std::uint64_t>(std::clamp(100 * n_chunks, 521.0, 1e6));
  while (!is_prime(n)) ++n;
  return n;
}

/// What can be done without a rewrite about the access that takes longest.
std::string try_first(const AdviseReport& report, const Variable& variable, const Layout& now, std::size_t p) {
  constexpr double kMostCache_bytes = 2.0 * 1024 * 1024 * 1024;
  if (!now.chunk) return "nothing in the client helps a contiguous array.";
  const Cost& cost = now.costs[p];
  const std::string& name = variable.patterns[p].name;
  const bool is_hdf5 = report.format == "nc4" || report.format == "h5";
  const double wasted = cost.requests.decoded_bytes / std::max(1.0, cost.requests.useful_bytes);
  if (wasted > 2 && cost.requests.decoded_bytes <= kMostCache_bytes && cost.requests.chunks > 0.5) {
    // The next read beside this one needs the same chunks.
    if (is_hdf5) {
      const auto bytes = static_cast<std::uint64_t>(std::ceil(cost.requests.decoded_bytes));
      return fmt::format(
          "the next {} beside the last reads the same chunks; a chunk cache of {} keeps them (h5py: rdcc_nbytes={}, "
          "rdcc_nslots={}; netCDF-C: nc_set_chunk_cache).",
          name, brief_bytes(cost.requests.decoded_bytes), bytes, n_slots(cost.requests.chunks));
    }
    return fmt::format(
        "read up to {} neighbours of {} at a time: they lie in the same chunks, which zarr-python does "
        "not keep.",
        count_words(wasted), name);
  }
  const double largest_s = cost.terms.largest_s();
  if (cost.terms.decode_s >= 0.99 * largest_s) return "decode on all cores: dask, or one process for each part.";
  if (variable.in_objects && cost.terms.device_s >= 0.99 * largest_s &&
      cost.requests.requests > report.device.in_flight) {
    return "have more requests under way: zarr.config.set({'async.concurrency': 64}).";
  }
  return fmt::format("nothing in the client helps: {} stays.", cost.dominating());
}

std::string slowest(const Variable& variable, const Layout& layout) {
  const std::size_t p = heaviest(variable, layout);
  return fmt::format("{} takes {}, {} of it {}", variable.patterns[p].name, brief_seconds(layout.costs[p].seconds),
                     brief_seconds(layout.costs[p].terms.largest_s()), layout.costs[p].dominating());
}

/// "after 2 time-series".
std::string when(double n, const std::string& pattern) {
  if (n <= 0) return "never pays";
  return fmt::format("pays after {} {}{}", count_words(n), n > 1.5 ? "reads of " : "read of ", pattern);
}

std::string rewrite_words(const Variable& variable) {
  if (!variable.rewrite) return {};
  const auto& rewrite = *variable.rewrite;
  return fmt::format(" Rewriting (about {} with {} core{}, {} free needed) {}.", brief_seconds(rewrite.seconds),
                     rewrite.n_threads, rewrite.n_threads == 1 ? "" : "s", brief_bytes(rewrite.free_bytes),
                     when(rewrite.pays_after, variable.patterns[rewrite.pattern].name));
}

std::string copies_words(const AdviseReport& report, const Variable& variable) {
  if (!variable.copies) return {};
  const auto& copies = *variable.copies;
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  std::string served;
  std::size_t n_served = 0;
  for (std::size_t p = 0; p < variable.patterns.size(); ++p) {
    if (copies.copy_of[p] != 1) continue;
    served += (n_served++ == 0 ? "" : ", ") + variable.patterns[p].name;
  }
  std::string text =
      fmt::format("Two copies would be {} times {} than that one: {} and {} for {}; {} together",
                  ratio_words(pick.objective / copies.objective), report.objective == "cost" ? "cheaper" : "faster",
                  copies.keeps_present ? "the present file" : chunk_words(copies.layouts[0].chunk),
                  chunk_words(copies.layouts[1].chunk), served, brief_bytes(copies.size_bytes));
  if (copies.pays_after > 0)
    text += fmt::format("; the second {}", when(copies.pays_after, variable.patterns[copies.pattern].name));
  return text + ".";
}

/// Layouts of the front that take clearly less memory or room.
std::string leaner_words(const Variable& variable) {
  constexpr std::size_t kMost = 3;
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  std::vector<std::string> words;
  for (const auto& layout : variable.front) {
    const bool leaner = layout.client_bytes < 0.7 * pick.client_bytes || layout.size_bytes < 0.97 * pick.size_bytes;
    if (same_layout(layout, pick) || !leaner || words.size() == kMost || layout.objective > 4 * pick.objective)
      continue;
    words.push_back(fmt::format("{} ({} in the client, {} on disk, {} times the time)", chunk_words(layout.chunk),
                                brief_bytes(layout.client_bytes), brief_bytes(layout.size_bytes),
                                ratio_words(layout.objective / pick.objective)));
  }
  if (words.empty()) return {};
  return fmt::format("Leaner than {} ({} in the client, {} on disk): {}.", chunk_words(pick.chunk),
                     brief_bytes(pick.client_bytes), brief_bytes(pick.size_bytes), fmt::join(words, "; "));
}

}  // namespace

std::string try_first_words(const AdviseReport& report, const Variable& variable) {
  const Layout* now = variable.find(Layout::Kind::current);
  return now == nullptr ? std::string() : try_first(report, variable, *now, heaviest(variable, *now));
}

std::string verdict_text(const AdviseReport& report, const Variable& variable) {
  const Layout& pick = *variable.find(Layout::Kind::recommended);
  const Layout* now = variable.find(Layout::Kind::current);
  std::string text;
  if (now == nullptr) {
    text = wrap(fmt::format("With {}, {}.", chunk_words(pick.chunk), slowest(variable, pick)), 0);
  } else {
    std::string verdict = fmt::format("Now {}. ", slowest(variable, *now));
    const double gain = gain_over(*now, pick);
    const char* better = report.objective == "cost" ? "cheaper" : "faster";
    const bool worth_it = pays(variable, report.device);
    if (same_layout(*now, pick)) {
      verdict += "No better layout was found: leave it as it is.";
    } else if (gain < 1) {
      verdict += fmt::format("Nothing in the limits is {}: leave it as it is.", better);
    } else if (!worth_it) {
      verdict += fmt::format(
          "Recommended is {} times {}, less than the model can be wrong (a factor of {:.3g}): leave it as it is.",
          ratio_words(gain), better, report.device.error_factor.value);
    } else {
      verdict += fmt::format("Recommended is {} times {}: {}.{}", ratio_words(gain), better, slowest(variable, pick),
                             rewrite_words(variable));
    }
    text = wrap(verdict, 0);
    if (worth_it) text += wrap("Try first: " + try_first_words(report, variable), 0);
  }
  for (const auto& more : {copies_words(report, variable), leaner_words(variable)}) {
    if (!more.empty()) text += wrap(more, 0);
  }
  return text;
}

}  // namespace chunkwise
