// Fixed-width integers in stored bytes.
#pragma once

#include <concepts>
#include <cstddef>

namespace chunkwise {

/// sizeof(T) bytes at `from`, least significant first.
template <std::unsigned_integral T>
T load_little(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
  return value;
}

/// sizeof(T) bytes at `from`, most significant first.
template <std::unsigned_integral T>
T load_big(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(from[i]) << (8 * (sizeof(T) - 1 - i)));
  }
  return value;
}

template <std::unsigned_integral T>
void store_little(T value, std::byte* to) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

template <std::unsigned_integral T>
void store_big(T value, std::byte* to) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)));
}

/// The bytes the other way round.
template <std::unsigned_integral T>
T reversed(T value) {
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  return value;
}

}  // namespace chunkwise
