// IEEE numbers of 16 bits, which C++ has no type for.
#pragma once

#include <cstdint>

namespace chunkwise {

/// An IEEE half as a double (exact), and the nearest half of a double (ties to even, beyond the range infinity).
double half_to_double(std::uint16_t half);
std::uint16_t double_to_half(double value);

}  // namespace chunkwise
