#include "base/half.h"

#include <bit>
#include <cmath>

namespace chunkwise {

double half_to_double(std::uint16_t half) {
  constexpr std::uint64_t kBiasStep = 1023 - 15;
  const std::uint64_t exponent = (half >> 10) & 0x1FU;
  const std::uint64_t mantissa = half & 0x3FFU;
  const std::uint64_t sign = static_cast<std::uint64_t>(half >> 15) << 63;
  if (exponent == 0) {
    const double magnitude = static_cast<double>(mantissa) * 0x1p-24;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint64_t wide = exponent == 0x1F ? 0x7FF : exponent + kBiasStep;
  return std::bit_cast<double>(sign | wide << 52 | mantissa << 42);
}

std::uint16_t double_to_half(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  if (std::isnan(value)) {
    const auto mantissa = static_cast<std::uint16_t>((bits >> 42) & 0x3FF);
    return static_cast<std::uint16_t>(sign | 0x7C00 | (mantissa == 0 ? 0x200 : mantissa));
  }
  const double magnitude = std::abs(value);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00);
  // Scaled so that the last place of the result is 1; rint rounds ties to even, and a carry moves into the exponent.
  if (magnitude < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<int>(std::rint(magnitude * 0x1p24)));
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  const int mantissa = static_cast<int>(std::rint(std::ldexp(magnitude, 11 - exponent)));  // 1024 ... 2048
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + mantissa - 1024));
}

}  // namespace chunkwise
