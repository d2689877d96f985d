// Data for codec tests: made, not stored, and the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace chunkwise::samples {

using ByteVector = std::vector<std::byte>;

/// Bytes that no codec can make smaller.
inline ByteVector noise(std::size_t size_bytes, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  ByteVector bytes(size_bytes);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

template <typename T>
ByteVector bytes_of(const std::vector<T>& values) {
  ByteVector bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// One row after the other of a map that varies slowly, with noise in the low bits, rounded as analyses are.
template <typename T = float>
ByteVector smooth_field(std::size_t n_elements, double noise_amplitude = 0.05, double step = 1.0 / 64) {
  std::mt19937 random(7);
  std::vector<T> values(n_elements);
  constexpr std::size_t kRow = 349;
  for (std::size_t i = 0; i < n_elements; ++i) {
    const double x = static_cast<double>(i % kRow);
    const double y = static_cast<double>(i / kRow);
    // Sum of uniforms: standard distributions differ between libraries.
    double bump = -6;
    for (int k = 0; k < 12; ++k) bump += static_cast<double>(random()) / 4294967296.0;
    double value = 280 + 15 * std::sin(0.011 * y) * std::cos(0.017 * x) + noise_amplitude * bump;
    if (step > 0) value = std::round(value / step) * step;
    values[i] = static_cast<T>(value);
  }
  return bytes_of(values);
}

inline ByteVector from_hex(std::string_view hex) {
  ByteVector bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

inline ByteVector copy(ByteView view) {
  return {view.begin(), view.end()};
}

/// The code of the Error that `call` throws, Code::ok if it throws none.
template <typename Call>
Code code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::ok;
}

/// The sentence and the hint of the Error that `call` throws, or nothing.
template <typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return {};
}

}  // namespace chunkwise::samples
