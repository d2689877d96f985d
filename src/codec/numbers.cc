#include "codec/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/half.h"
#include "codec/config.h"
#include "codec/endian.h"

namespace chunkwise {
namespace {

template <std::size_t n_bytes>
using Unsigned = std::conditional_t<
    n_bytes == 1, std::uint8_t,
    std::conditional_t<n_bytes == 2, std::uint16_t, std::conditional_t<n_bytes == 4, std::uint32_t, std::uint64_t>>>;

// Calls run(T{}) with the type that holds such a number, run(half) for floats of 16 bits.
struct Half {
  std::uint16_t bits;
};

template <typename Run>
void with_type(const Elements& elements, Run run) {
  switch (elements.kind) {
    case ElementKind::boolean:
      return run(bool{});
    case ElementKind::int_:
      if (elements.bytes == 1) return run(std::int8_t{});
      if (elements.bytes == 2) return run(std::int16_t{});
      return elements.bytes == 4 ? run(std::int32_t{}) : run(std::int64_t{});
    case ElementKind::uint:
      if (elements.bytes == 1) return run(std::uint8_t{});
      if (elements.bytes == 2) return run(std::uint16_t{});
      return elements.bytes == 4 ? run(std::uint32_t{}) : run(std::uint64_t{});
    case ElementKind::float_:
      if (elements.bytes == 2) return run(Half{});
      return elements.bytes == 4 ? run(float{}) : run(double{});
    case ElementKind::opaque:
      break;
  }
  CHUNKWISE_CHECK(elements.kind != ElementKind::opaque);
}

template <typename U>
U load(const std::byte* from, bool swapped) {
  U value;
  std::memcpy(&value, from, sizeof(U));
  return swapped ? reversed(value) : value;
}

template <typename U>
void store(U value, std::byte* to, bool swapped) {
  if (swapped) value = reversed(value);
  std::memcpy(to, &value, sizeof(U));
}

template <typename T>
void read_as(bool swapped, const std::byte* from, NumberBlock& block) {
  using U = Unsigned<sizeof(T)>;
  for (std::size_t i = 0; i < block.n; ++i) {
    const U bits = load<U>(from + i * sizeof(U), swapped);
    if constexpr (std::is_same_v<T, Half>) {
      block.real[i] = half_to_double(bits);
    } else if constexpr (std::is_floating_point_v<T>) {
      T value;
      std::memcpy(&value, &bits, sizeof(T));
      block.real[i] = static_cast<double>(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      block.whole[i] = bits != 0 ? 1 : 0;
    } else {
      block.whole[i] = static_cast<std::int64_t>(static_cast<T>(bits));
    }
  }
}

template <typename T>
T truncated(double value) {
  using Register = std::conditional_t<(sizeof(T) < 4 || std::is_same_v<T, std::int32_t>), std::int32_t, std::int64_t>;
  constexpr double kEnd = -static_cast<double>(std::numeric_limits<Register>::min());
  // Comparisons with a NaN are false.
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value >= kEnd && value < 2 * kEnd) return static_cast<T>(value);
  }
  constexpr double kBegin = sizeof(Register) == 4 ? -kEnd - 1 : -kEnd;
  const bool fits = sizeof(Register) == 4 ? value > kBegin && value < kEnd : value >= kBegin && value < kEnd;
  return static_cast<T>(fits ? static_cast<Register>(value) : std::numeric_limits<Register>::min());
}

template <typename T, typename Wide>
T cast(Wide value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<T, Half>) {
    return Half{double_to_half(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<Wide, double> && std::is_integral_v<T>) {
    return truncated<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T, typename Get>
void write_as(bool swapped, std::size_t n, std::byte* to, Get get) {
  using U = Unsigned<sizeof(T)>;
  for (std::size_t i = 0; i < n; ++i) {
    const T value = cast<T>(get(i));
    U bits;
    if constexpr (std::is_same_v<T, bool>) {
      bits = value ? 1 : 0;
    } else {
      std::memcpy(&bits, &value, sizeof(U));
    }
    store(bits, to + i * sizeof(U), swapped);
  }
}

bool is_swapped(const Elements& elements) {
  return elements.bytes > 1 && elements.byte_order != kNativeOrder;
}

}  // namespace

void read_numbers(const Elements& elements, const std::byte* from, NumberBlock& block) {
  block.kind = elements.kind;
  with_type(elements, [&](auto zero) { read_as<decltype(zero)>(is_swapped(elements), from, block); });
}

void write_numbers(const NumberBlock& block, const Elements& elements, std::byte* to) {
  const bool swapped = is_swapped(elements);
  with_type(elements, [&](auto zero) {
    using T = decltype(zero);
    if (block.kind == ElementKind::float_)
      return write_as<T>(swapped, block.n, to, [&](auto i) { return block.real[i]; });
    if (block.kind != ElementKind::uint)
      return write_as<T>(swapped, block.n, to, [&](auto i) { return block.whole[i]; });
    write_as<T>(swapped, block.n, to, [&](auto i) { return static_cast<std::uint64_t>(block.whole[i]); });
  });
}

void cast_numbers(const Elements& to, NumberBlock& block) {
  if (to.kind == block.kind && to.bytes == 8) return;
  std::array<std::byte, 8 * NumberBlock::kMost> bytes;
  write_numbers(block, to, bytes.data());
  read_numbers(to, bytes.data(), block);
}

std::size_t NumberCodec::max_encoded_bytes(std::size_t decoded_bytes) const {
  return decoded_bytes / decoded_.bytes * encoded_.bytes;
}

void NumberCodec::encode(ByteView decoded, Bytes& encoded) const {
  if (encode_or_skip(decoded, encoded)) return;
  throw Error(Code::unsupported,
              fmt::format("{} cannot take {} bytes as numbers of {}", name_, decoded.size(), decoded_.bytes));
}

bool NumberCodec::encode_or_skip(ByteView decoded, Bytes& encoded) const {
  require_lossless();
  if (decoded.size() % decoded_.bytes != 0) return false;
  encoded.resize_discard(max_encoded_bytes(decoded.size()));
  encode_numbers(decoded, encoded.data());
  return true;
}

void NumberCodec::encode_numbers(ByteView decoded, std::byte* to) const {
  NumberBlock block;
  Carry carry;
  Carry carry_back;
  std::array<std::byte, 8 * NumberBlock::kMost> again;
  while (!decoded.empty()) {
    block.n = std::min(NumberBlock::kMost, decoded.size() / decoded_.bytes);
    const ByteView part = decoded.first(block.n * decoded_.bytes);
    read_numbers(decoded_, part.data(), block);
    encode_block(block, carry);
    write_numbers(block, encoded_, to);
    read_numbers(encoded_, to, block);
    decode_block(block, carry_back);
    write_numbers(block, decoded_, again.data());
    if (std::memcmp(part.data(), again.data(), part.size()) != 0) {
      throw Error(Code::unsupported,
                  fmt::format("{} cannot store some of the numbers as they are, {} as {}", name_, to_string(decoded_),
                              to_string(encoded_)),
                  "say what to use instead with --codec, such as VARIABLE:shuffle,zlib:1");
    }
    decoded = decoded.subspan(part.size());
    to += block.n * encoded_.bytes;
  }
}

void NumberCodec::decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const {
  if (encoded.size() % encoded_.bytes != 0) {
    throw Error(Code::corrupt,
                fmt::format("{} data has {} bytes, no whole numbers of {}", name_, encoded.size(), encoded_.bytes));
  }
  const std::size_t n = encoded.size() / encoded_.bytes;
  if (n > max_decoded_bytes / decoded_.bytes) throw_decoded_too_large(name_, max_decoded_bytes);
  decoded.resize_discard(n * decoded_.bytes);
  NumberBlock block;
  Carry carry;
  const std::byte* from = encoded.data();
  std::byte* to = decoded.data();
  for (std::size_t left = n; left > 0; left -= block.n) {
    block.n = std::min(NumberBlock::kMost, left);
    read_numbers(encoded_, from, block);
    decode_block(block, carry);
    write_numbers(block, decoded_, to);
    from += block.n * encoded_.bytes;
    to += block.n * decoded_.bytes;
  }
}

}  // namespace chunkwise
