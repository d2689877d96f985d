#include "base/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>

#include <fmt/format.h>

namespace chunkwise {
namespace {

constexpr std::size_t kMaxListed = 12;
constexpr std::size_t kMaxCompared = 256;  // longer names are not typed by hand

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Edits that turn `a` into `b`: insert, delete, replace, and swap of two neighbours.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> old(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = old[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({replace, old[j] + 1, now[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], older[j - 2] + 1);
    }
    std::swap(older, old);
    std::swap(old, now);
  }
  return old[b.size()];
}

}  // namespace

std::string suggest(std::string_view mistyped, const std::vector<std::string>& known) {
  if (known.empty()) return {};
  const std::string* nearest = nullptr;
  std::size_t nearest_distance = 0;
  if (mistyped.size() <= kMaxCompared) {
    const std::string wanted = lower_case(mistyped);
    for (const std::string& name : known) {
      if (name.size() > kMaxCompared) continue;
      const std::size_t allowed = std::max(name.size(), wanted.size()) / 3;
      const std::size_t apart = name.size() > wanted.size() ? name.size() - wanted.size() : wanted.size() - name.size();
      if (apart > allowed) continue;
      const std::size_t distance = edit_distance(wanted, lower_case(name));
      if (distance <= allowed && (nearest == nullptr || distance < nearest_distance)) {
        nearest = &name;
        nearest_distance = distance;
      }
    }
  }
  if (nearest != nullptr) return fmt::format("did you mean '{}'?", *nearest);
  const std::size_t n_listed = std::min(known.size(), kMaxListed);
  std::string list =
      fmt::format("known: {}", fmt::join(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(n_listed), ", "));
  if (n_listed < known.size()) list += fmt::format(", and {} more", known.size() - n_listed);
  return list;
}

}  // namespace chunkwise
