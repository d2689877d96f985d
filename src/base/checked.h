// Arithmetic on sizes that come from files: never wraps.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace chunkwise {

/// a*b, or nothing on overflow. Pure.
template <std::integral T>
constexpr std::optional<T> checked_mul(T a, T b) {
  T r{};
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}

/// a+b, or nothing on overflow. Pure.
template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  T r{};
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}

/// ceil(a/b) for a >= 0, b > 0. Pure.
template <std::integral T>
constexpr T ceil_div(T a, T b) {
  return a / b + (a % b != 0 ? T{1} : T{0});
}

}  // namespace chunkwise
