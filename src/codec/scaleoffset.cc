// Canonical "scaleoffset": HDF5 filter 6. The elements of a chunk less their minimum, in as few bits as they need:
//   bits:u32 little-endian, 8:u8, minimum:u64 little-endian, 8 bytes unused, then the numbers, most significant bit
//   first
// With all bits of the type the elements follow as they are, in the order of the machine that wrote them. Where the
// dataset has a fill value, the number of all ones stands for it.
//
// Floats are rounded to a number of decimals first, so they are only decoded: rounding what is already rounded, with
// another minimum, moves values.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "codec/bit_stream.h"
#include "codec/endian.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kScaleOffset{"scaleoffset", "scaleoffset  kept where an HDF5 dataset has it, not to be asked for"};
constexpr const char* kCd = "cd";
constexpr std::size_t kHeaderBytes = 21;

// Places among the filter's choice.
enum Place : std::size_t {
  kScaleType,
  kScaleFactor,
  kElements,
  kClass,
  kElementBytes,
  kSigned,
  kBigEndian,
  kHasFill,
  kFill,
  kPlaces = 20,
};
constexpr std::uint32_t kDecimalFloats = 0;
constexpr std::uint32_t kIntegers = 2;
constexpr std::uint32_t kIntegerClass = 0;
constexpr std::uint32_t kFloatClass = 1;

struct Choice {
  bool is_float = false;
  bool is_signed = false;
  bool big_endian = false;
  bool has_fill = false;
  std::uint64_t fill = 0;   // as the element's bits
  int decimals = 0;         // of floats
  unsigned least_bits = 0;  // of integers, as asked for; 0: as many as needed
  std::size_t element_bytes = 1;
  std::size_t n_elements = 0;

  unsigned element_bits() const { return static_cast<unsigned>(8 * element_bytes); }
};

// Calls `run` with a zero of the unsigned type as large as an element.
template <typename Run>
void with_type(std::size_t element_bytes, Run run) {
  switch (element_bytes) {
    case 1:
      return run(std::uint8_t{});
    case 2:
      return run(std::uint16_t{});
    case 4:
      return run(std::uint32_t{});
    default:
      return run(std::uint64_t{});
  }
}

template <typename U>
U load(const std::byte* from, bool big_endian) {
  return big_endian ? load_big<U>(from) : load_little<U>(from);
}

template <typename U>
void store(U value, std::byte* to, bool big_endian) {
  big_endian ? store_big(value, to) : store_little(value, to);
}

// As the library computes it, to the last bit: in the type itself, a division and then an addition.
template <typename Float, typename U>
U rounded_float(U code, std::uint64_t minimum, int decimals) {
  static_assert(sizeof(Float) == sizeof(U));
  const auto whole = static_cast<Float>(std::bit_cast<std::make_signed_t<U>>(code));
  const auto scale = static_cast<Float>(std::pow(10.0, decimals));
  const auto least = std::bit_cast<Float>(static_cast<U>(minimum));
  return std::bit_cast<U>(whole / scale + least);
}

class ScaleOffset final : public Codec {
 public:
  explicit ScaleOffset(const Choice& choice) : choice_(choice) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return kHeaderBytes + decoded_bytes + 1; }

  void require_lossless() const override {
    if (!choice_.is_float) return;
    throw_lossy(fmt::format("HDF5 filter 6 (scaleoffset) rounds floats to {} decimals", choice_.decimals));
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    require_lossless();
    if (decoded.size() % choice_.element_bytes != 0) {
      throw Error(Code::unsupported, fmt::format("scaleoffset cannot take {} bytes, no whole elements of {}",
                                                 decoded.size(), choice_.element_bytes));
    }
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    with_type(choice_.element_bytes, [&](auto zero) { encode_as<decltype(zero)>(decoded, encoded); });
  }

  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    if (decoded.size() % choice_.element_bytes != 0) return false;
    encode(decoded, encoded);
    return true;
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < kHeaderBytes) throw Error(Code::corrupt, "scaleoffset data ends inside its header");
    const std::size_t size = choice_.n_elements * choice_.element_bytes;
    if (size > max_decoded_bytes) throw_decoded_too_large("scaleoffset", max_decoded_bytes);
    const auto n_bits = load_little<std::uint32_t>(encoded.data());
    const auto n_minimum = static_cast<std::size_t>(encoded[4]);
    std::uint64_t minimum = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(n_minimum, 8); ++i) {
      minimum |= static_cast<std::uint64_t>(encoded[5 + i]) << (8 * i);
    }
    encoded = encoded.subspan(kHeaderBytes);
    if (n_bits > choice_.element_bits()) {
      throw Error(Code::corrupt, fmt::format("scaleoffset data claims numbers of {} bits", n_bits));
    }
    // Both factors are bounded: n_elements * element_bytes is, and a byte has 8 bits.
    const std::size_t due_bytes = (static_cast<std::size_t>(n_bits) * choice_.n_elements + 7) / 8;
    if (encoded.size() < due_bytes) throw Error(Code::corrupt, "scaleoffset data ends early");
    decoded.resize_discard(size);
    with_type(choice_.element_bytes, [&](auto zero) {
      using U = decltype(zero);
      n_bits == choice_.element_bits() ? copy_all<U>(encoded, decoded.data())
                                       : decode_as<U>(encoded, n_bits, minimum, decoded.data());
    });
  }

 private:
  template <typename U>
  void copy_all(ByteView encoded, std::byte* to) const {
    for (std::size_t i = 0; i < choice_.n_elements; ++i) {
      U value;
      std::memcpy(&value, encoded.data() + i * sizeof(U), sizeof(U));
      store(value, to + i * sizeof(U), choice_.big_endian);
    }
  }

  template <typename U>
  void decode_as(ByteView encoded, unsigned n_bits, std::uint64_t minimum, std::byte* to) const {
    BitReader reader(encoded);
    const auto fill_code = static_cast<U>(low_bits(n_bits));
    for (std::size_t i = 0; i < choice_.n_elements; ++i) {
      const auto code = static_cast<U>(n_bits == 0 ? 0 : reader.read(n_bits));
      U value;
      if (choice_.has_fill && code == fill_code) {
        value = static_cast<U>(choice_.fill);
      } else if (!choice_.is_float) {
        value = static_cast<U>(code + minimum);
      } else if constexpr (sizeof(U) == sizeof(float)) {
        value = rounded_float<float>(code, minimum, choice_.decimals);
      } else if constexpr (sizeof(U) == sizeof(double)) {
        value = rounded_float<double>(code, minimum, choice_.decimals);
      } else {
        value = 0;  // bind lets no other floats through
      }
      store(value, to + i * sizeof(U), choice_.big_endian);
    }
  }

  template <typename U>
  void encode_as(ByteView decoded, Bytes& encoded) const {
    const std::size_t n = decoded.size() / sizeof(U);
    const auto fill = static_cast<U>(choice_.fill);
    // Turning the sign bit makes signed numbers compare as unsigned ones.
    const U turn = choice_.is_signed ? static_cast<U>(U{1} << (8 * sizeof(U) - 1)) : U{0};
    U least = std::numeric_limits<U>::max();
    U most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const U value = load<U>(decoded.data() + i * sizeof(U), choice_.big_endian);
      if (choice_.has_fill && value == fill) continue;
      least = std::min<U>(least, value ^ turn);
      most = std::max<U>(most, value ^ turn);
    }
    if (least > most) least = most = turn;  // nothing but fill: the minimum is 0, as in the library
    // Codes needed: 0 to the span, and one more for the fill.
    const std::uint64_t span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    const unsigned codes_bits = static_cast<unsigned>(
        std::bit_width(choice_.has_fill && span != std::numeric_limits<std::uint64_t>::max() ? span + 1 : span));
    const unsigned n_bits = std::min(std::max(codes_bits, choice_.least_bits), choice_.element_bits());
    // All ones of a number with all bits is no code but a value.
    const auto origin = static_cast<U>(least ^ turn);
    std::uint64_t minimum = origin;
    if (choice_.is_signed && (origin & static_cast<U>(U{1} << (8 * sizeof(U) - 1))) != 0) {
      minimum |= ~low_bits(8 * sizeof(U));
    }
    std::memset(encoded.data(), 0, kHeaderBytes);
    store_little(n_bits, encoded.data());
    encoded.data()[4] = std::byte{8};
    store_little(minimum, encoded.data() + 5);
    std::byte* to = encoded.data() + kHeaderBytes;
    if (n_bits == choice_.element_bits()) {
      for (std::size_t i = 0; i < n; ++i, to += sizeof(U)) {
        const U value = load<U>(decoded.data() + i * sizeof(U), choice_.big_endian);
        std::memcpy(to, &value, sizeof(U));
      }
    } else {
      BitWriter writer(to);
      const auto fill_code = static_cast<U>(low_bits(n_bits));
      for (std::size_t i = 0; i < n && n_bits > 0; ++i) {
        const U value = load<U>(decoded.data() + i * sizeof(U), choice_.big_endian);
        const U code = choice_.has_fill && value == fill ? fill_code : static_cast<U>(value - origin);
        writer.write(code, n_bits);
      }
      to = writer.finish();
    }
    encoded.resize(static_cast<std::size_t>(to - encoded.data()));
  }

  Choice choice_;
};

// ---- spellings

std::vector<std::int64_t> cd_of(const CodecSpec& spec) {
  const auto found = spec.params.find(kCd);
  const auto* values = found != spec.params.end() ? std::get_if<std::vector<std::int64_t>>(&found->second) : nullptr;
  if (values == nullptr || values->size() < kPlaces) {
    throw Error(Code::corrupt, "codec 'scaleoffset': the filter has too few parameters");
  }
  return *values;
}

Choice choice_of(const CodecSpec& spec) {
  const std::vector<std::int64_t> cd = cd_of(spec);
  const auto value = [&](std::size_t place) { return static_cast<std::uint32_t>(cd[place]); };
  Choice choice;
  choice.is_float = value(kClass) == kFloatClass;
  choice.is_signed = value(kSigned) != 0;
  choice.big_endian = value(kBigEndian) != 0;
  choice.has_fill = value(kHasFill) != 0;
  choice.element_bytes = value(kElementBytes);
  choice.n_elements = value(kElements);
  const bool known_size = choice.is_float ? value(kElementBytes) == 4 || value(kElementBytes) == 8
                                          : std::has_single_bit(value(kElementBytes)) && value(kElementBytes) <= 8;
  if ((value(kClass) != kIntegerClass && value(kClass) != kFloatClass) || !known_size ||
      value(kScaleType) != (choice.is_float ? kDecimalFloats : kIntegers)) {
    throw Error(Code::unsupported,
                fmt::format("codec 'scaleoffset': there is no scaling {} for elements of class {} with {} bytes",
                            value(kScaleType), value(kClass), value(kElementBytes)));
  }
  const auto factor = static_cast<std::int32_t>(value(kScaleFactor));
  if (choice.is_float) {
    choice.decimals = factor;
  } else {
    choice.least_bits = static_cast<unsigned>(std::clamp<std::int32_t>(factor, 0, 64));
  }
  choice.fill = value(kFill) | std::uint64_t{value(kFill + 1)} << 32;
  return choice;
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  return std::make_unique<ScaleOffset>(choice_of(spec));
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  std::vector<std::int64_t> cd = cd_of(spec);
  cd[kElements] = static_cast<std::int64_t>(checked_product(traits.chunk).value_or(0));
  return {"scaleoffset", {{kCd, std::move(cd)}}};
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  CodecSpec spec{"scaleoffset", {{kCd, std::vector<std::int64_t>(cd_values.begin(), cd_values.end())}}};
  choice_of(spec);
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t, std::size_t chunk_bytes) {
  std::vector<unsigned> values;
  for (const std::int64_t value : cd_of(spec)) values.push_back(static_cast<unsigned>(value));
  values[kElements] = static_cast<unsigned>(chunk_bytes / choice_of(spec).element_bytes);
  return values;
}

}  // namespace

constexpr CodecRow kScaleOffsetRow{
    .name = kScaleOffset.codec,
    .summary = "HDF5's scale-offset; floats only read or copied",
    .usage = kScaleOffset.usage,
    .bind = bind,
    .for_chunk = for_chunk,
    .print = print_by<kScaleOffset>,
    .hdf5_filter = 6,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
