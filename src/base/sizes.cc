#include "base/sizes.h"

#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

[[noreturn]] void throw_bad_size(std::string_view text, const char* why) {
  throw Error(Code::usage, fmt::format("'{}' is not a size: {}", text, why),
              "write a size as 4096, 64KiB, 512MiB, 1.5GiB (powers of 1024) or 64kB, 1.5G (powers of 1000)");
}

// Bytes of a unit such as "", "B", "k", "MB", "GiB"; nothing if unknown.
std::optional<std::uint64_t> unit_bytes(std::string_view unit) {
  std::string lower;
  for (const char c : unit) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.empty() || lower == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgtpe";
  const std::size_t power = kPrefixes.find(lower[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string rest = lower.substr(1);
  std::uint64_t base = 0;
  if (rest.empty() || rest == "b") {
    base = 1000;
  } else if (rest == "i" || rest == "ib") {
    base = 1024;
  } else {
    return std::nullopt;
  }
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) bytes *= base;
  return bytes;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);

  std::size_t n_digits = 0;
  std::optional<std::uint64_t> whole = std::uint64_t{0};
  const auto take_digit = [](std::optional<std::uint64_t> value, char c) {
    if (value) value = checked_mul<std::uint64_t>(*value, 10);
    if (value) value = checked_add<std::uint64_t>(*value, static_cast<std::uint64_t>(c - '0'));
    return value;
  };
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), ++n_digits) {
    whole = take_digit(whole, rest.front());
  }
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
  bool has_fraction = false;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    has_fraction = true;
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), ++n_digits) {
      if (denominator > 1'000'000'000'000'000) continue;  // digits that cannot matter
      numerator = numerator * 10 + static_cast<std::uint64_t>(rest.front() - '0');
      denominator *= 10;
    }
  }
  if (n_digits == 0) throw_bad_size(text, "it does not begin with a number");
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);

  const std::optional<std::uint64_t> unit = unit_bytes(rest);
  if (!unit) throw_bad_size(text, "its unit is unknown");
  if (has_fraction && *unit == 1) throw_bad_size(text, "bytes have no fraction");
  // Exact, not by way of double; what is left of a byte is dropped.
  __extension__ using Wide = unsigned __int128;
  const auto fraction = static_cast<std::uint64_t>(Wide{numerator} * *unit / denominator);
  std::optional<std::uint64_t> bytes = whole ? checked_mul<std::uint64_t>(*whole, *unit) : std::nullopt;
  if (bytes) bytes = checked_add<std::uint64_t>(*bytes, fraction);
  if (!bytes) throw_bad_size(text, "it is above 16 EiB");
  return *bytes;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 1;
  std::uint64_t scale = 1024;
  // 1023.95 KiB would be shown as "1024.0 KiB", so it already belongs to the next unit.
  while (unit + 1 < kUnits.size() && static_cast<double>(bytes) / static_cast<double>(scale) >= 1023.95) {
    scale *= 1024;
    ++unit;
  }
  if (bytes % scale == 0) return fmt::format("{} {}", bytes / scale, kUnits[unit]);
  return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(scale), kUnits[unit]);
}

std::string format_seconds(double seconds) {
  if (std::isnan(seconds)) return "nan s";
  if (seconds < 0) return fmt::format("-{}", format_seconds(-seconds));
  if (std::isinf(seconds)) return "inf s";
  if (seconds == 0) return "0 s";
  // The bounds are where one decimal would round up to the next unit.
  if (seconds < 999.95e-9) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 999.95e-6) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 999.95e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  if (seconds < 3599.5) {
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    if (whole % 60 == 0) return fmt::format("{} min", whole / 60);
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  if (seconds < 48 * 3600.0) return fmt::format("{:.1f} h", seconds / 3600);
  const double days = seconds / 86400;
  if (days < 999.95) return fmt::format("{:.1f} d", days);
  return fmt::format("{:.0f} d", days);
}

std::string format_count(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

}  // namespace chunkwise
