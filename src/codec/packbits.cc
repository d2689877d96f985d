// Bits of elements one after the other, in two byte forms:
// "packbits" (numcodecs, zarr 3 "numcodecs.packbits"):  unused bits of the last byte:u8, then one bit of each boolean,
//                                                       from the highest bit of a byte to the lowest
// "zarr3-packbits" (zarr 3 "packbits", array to bytes): of each number the bits "first_bit" to "last_bit", from the
//                                                       lowest to the highest, in a byte too; the number of unused bits
//                                                       at the start, at the end, or nowhere. The order in a byte is
//                                                       that of zarrs, the specification does not tell it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "codec/bit_stream.h"
#include "codec/number_types.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kPackBits{"packbits", "packbits  one bit for each boolean", {}, "packbits"};

void require_boolean(std::uint64_t value) {
  if (value <= 1) return;
  throw Error(Code::unsupported, fmt::format("packbits cannot keep the value {}, only 0 and 1", value),
              "choose another codec with --codec");
}

class PackBits final : public Codec {
 public:
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return 1 + (decoded_bytes + 7) / 8; }
  bool fixed_size() const override { return true; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    std::fill_n(encoded.data(), encoded.size(), std::byte{0});
    encoded.data()[0] = static_cast<std::byte>((8 - decoded.size() % 8) % 8);
    std::byte* const to = encoded.data() + 1;
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      require_boolean(static_cast<std::uint64_t>(decoded[i]));
      to[i / 8] |= decoded[i] << (7 - i % 8);
    }
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.empty()) throw Error(Code::corrupt, "packbits data ends early");
    const auto n_unused = static_cast<std::size_t>(encoded[0]);
    if (n_unused > 7 || (n_unused > 0 && encoded.size() == 1)) {
      throw Error(Code::corrupt, fmt::format("packbits data claims {} unused bits in its last byte", n_unused));
    }
    encoded = encoded.subspan(1);
    if (encoded.size() > max_decoded_bytes / 8 + 1 || 8 * encoded.size() - n_unused > max_decoded_bytes) {
      throw_decoded_too_large("packbits", max_decoded_bytes);
    }
    decoded.resize_discard(8 * encoded.size() - n_unused);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      decoded.data()[i] = encoded[i / 8] >> (7 - i % 8) & std::byte{1};
    }
  }
};

// ---- spellings of "packbits"

std::unique_ptr<Codec> bind(const CodecSpec&, std::size_t) {
  return std::make_unique<PackBits>();
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  if (traits.elements.bytes != 1) {
    throw Error(Code::unsupported, "packbits takes booleans only", "choose another codec with --codec");
  }
  return spec;
}

Elements plain_bytes(const CodecSpec&, const Elements&) {
  return {ElementKind::uint, 1, kNativeOrder};
}

// ---- "zarr3-packbits"

constexpr const char* kPlaces[] = {"none", "first_byte", "last_byte"};
enum Place : std::size_t { kNowhere, kFirstByte, kLastByte };
constexpr std::int64_t kUnset = -1;
constexpr Parameter kRows[] = {
    {.key = "padding_encoding", .words = kPlaces, .optional = true, .argument = false, .member = "padding_encoding"},
    {.key = "first_bit",
     .otherwise = kUnset,
     .asked = {-1, 63},
     .optional = true,
     .argument = false,
     .member = "first_bit"},
    {.key = "last_bit",
     .otherwise = kUnset,
     .asked = {-1, 63},
     .optional = true,
     .argument = false,
     .member = "last_bit"},
};
constexpr Parameters kZarr3PackBits{"zarr3-packbits",
                                    "zarr3-packbits  kept where a dataset has it, not to be asked for", kRows};

class Zarr3PackBits final : public Codec {
 public:
  Zarr3PackBits(const Elements& elements, Place place, unsigned first_bit, unsigned last_bit)
      : elements_(elements), place_(place), first_(first_bit), n_bits_(last_bit - first_bit + 1) {}

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    const std::size_t n = decoded_bytes / elements_.bytes;
    // n is far below 2^58: see kMaxChunkBytes of the chain.
    return n / 8 * n_bits_ + (n % 8 * n_bits_ + 7) / 8 + count_bytes();
  }
  bool fixed_size() const override { return true; }

  void require_lossless() const override {
    if (n_bits_ == element_bits()) return;
    throw_lossy(fmt::format("codec 'packbits' keeps the bits {} to {} of {}", first_, first_ + n_bits_ - 1,
                            to_string(elements_)));
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (encode_or_skip(decoded, encoded)) return;
    throw Error(Code::unsupported,
                fmt::format("packbits cannot take {} bytes as elements of {}", decoded.size(), elements_.bytes));
  }

  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    require_lossless();
    if (decoded.size() % elements_.bytes != 0) return false;
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    std::fill_n(encoded.data(), encoded.size(), std::byte{0});
    const std::size_t n = decoded.size() / elements_.bytes;
    std::byte* const to = encoded.data() + (place_ == kFirstByte ? 1 : 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t value = load(decoded.data() + i * elements_.bytes);
      if (elements_.kind == ElementKind::boolean) require_boolean(value);
      put(value, i * n_bits_, to);
    }
    if (place_ != kNowhere) encoded.data()[place_ == kFirstByte ? 0 : encoded.size() - 1] = n_unused_bits(n);
    return true;
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    if (encoded.size() < count_bytes()) throw Error(Code::corrupt, "packbits data ends early");
    const ByteView bits = encoded.subspan(place_ == kFirstByte ? 1 : 0, encoded.size() - count_bytes());
    // Where the number is not told, as many as there is room for.
    const std::size_t n = max_decoded_bytes / elements_.bytes;
    const std::size_t due = max_encoded_bytes(n * elements_.bytes) - count_bytes();
    if (bits.size() > due) throw_decoded_too_large("packbits", max_decoded_bytes);
    if (bits.size() < due) throw Error(Code::corrupt, "packbits data ends early");
    if (place_ != kNowhere && (place_ == kFirstByte ? encoded.front() : encoded.back()) != n_unused_bits(n)) {
      throw Error(Code::corrupt, "packbits data claims another number of unused bits than it has");
    }
    decoded.resize_discard(n * elements_.bytes);
    for (std::size_t i = 0; i < n; ++i) store(extended(take(bits, i * n_bits_)), decoded.data() + i * elements_.bytes);
  }

 private:
  std::size_t count_bytes() const { return place_ == kNowhere ? 0 : 1; }
  unsigned element_bits() const {
    return elements_.kind == ElementKind::boolean ? 1 : static_cast<unsigned>(8 * elements_.bytes);
  }
  std::byte n_unused_bits(std::size_t n) const { return static_cast<std::byte>((8 - n % 8 * n_bits_ % 8) % 8); }

  unsigned place_of(std::size_t i) const {
    return static_cast<unsigned>(8 * (elements_.byte_order == ByteOrder::little ? i : elements_.bytes - 1 - i));
  }
  std::uint64_t load(const std::byte* from) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < elements_.bytes; ++i) value |= static_cast<std::uint64_t>(from[i]) << place_of(i);
    return value;
  }
  void store(std::uint64_t value, std::byte* to) const {
    for (std::size_t i = 0; i < elements_.bytes; ++i) to[i] = static_cast<std::byte>(value >> place_of(i));
  }

  // The stored bits of a number, as a number.
  std::uint64_t extended(std::uint64_t bits) const {
    const unsigned above = 64 - n_bits_;
    bits <<= above;
    bits = elements_.kind == ElementKind::int_ ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> above)
                                               : bits >> above;
    return bits << first_;
  }

  // Bits `at` to at + n_bits - 1.
  void put(std::uint64_t value, std::size_t at, std::byte* to) const {
    for (unsigned done = 0; done < n_bits_;) {
      const auto skip = static_cast<unsigned>((at + done) % 8);
      const unsigned n = std::min(8 - skip, n_bits_ - done);
      to[(at + done) / 8] |= static_cast<std::byte>((value >> done & low_bits(n)) << skip);
      done += n;
    }
  }
  std::uint64_t take(ByteView bits, std::size_t at) const {
    std::uint64_t value = 0;
    for (unsigned done = 0; done < n_bits_;) {
      const auto skip = static_cast<unsigned>((at + done) % 8);
      const unsigned n = std::min(8 - skip, n_bits_ - done);
      value |= (static_cast<std::uint64_t>(bits[(at + done) / 8]) >> skip & low_bits(n)) << done;
      done += n;
    }
    return value;
  }

  Elements elements_;
  Place place_;
  unsigned first_;
  unsigned n_bits_;
};

// ---- spellings of "zarr3-packbits"

std::unique_ptr<Codec> bind_zarr3(const CodecSpec& spec, std::size_t element_bytes) {
  const Elements elements = number_types_of(spec, element_bytes).decoded;
  const std::int64_t n_bits = elements.kind == ElementKind::boolean ? 1 : static_cast<std::int64_t>(8 * elements.bytes);
  std::int64_t first = kRows[1].integer(spec);
  std::int64_t last = kRows[2].integer(spec);
  if (first == kUnset) first = 0;
  if (last == kUnset) last = n_bits - 1;
  require_parameter(last, {first, n_bits - 1}, "packbits", kRows[2].key);
  return std::make_unique<Zarr3PackBits>(elements, static_cast<Place>(kRows[0].word(spec)),
                                         static_cast<unsigned>(first), static_cast<unsigned>(last));
}

CodecSpec for_chunk_zarr3(const CodecSpec& spec, const ChunkTraits& traits) {
  return fit_number_types(spec, traits.elements);
}

}  // namespace

constexpr CodecRow kPackBitsRow{
    .name = kPackBits.codec,
    .summary = "booleans as bits, as in numcodecs",
    .usage = kPackBits.usage,
    .role = CodecRole::packs,
    .bind = bind,
    .for_chunk = for_chunk,
    .encoded_elements = plain_bytes,
    .parse = parse_by<kPackBits>,
    .print = print_by<kPackBits>,
    .zarr2_id = kPackBits.zarr2_id,
    .from_zarr2 = from_json_by<kPackBits>,
    .to_zarr2 = to_zarr2_by<kPackBits>,
    .zarr3_name = "numcodecs.packbits",
    .zarr3_place = Zarr3Place::array_to_array,
    .from_zarr3 = from_json_by<kPackBits>,
    .to_zarr3 = to_zarr3_by<kPackBits>,
};

constexpr CodecRow kZarr3PackBitsRow{
    .name = kZarr3PackBits.codec,
    .summary = "bits of numbers, as in zarr 3; a part of the bits only read or copied",
    .usage = kZarr3PackBits.usage,
    .role = CodecRole::packs,
    .bind = bind_zarr3,
    .for_chunk = for_chunk_zarr3,
    .encoded_elements = plain_bytes,
    .print = print_by<kZarr3PackBits>,
    .zarr3_name = "packbits",
    .zarr3_place = Zarr3Place::array_to_bytes,
    .from_zarr3 = from_json_by<kZarr3PackBits>,
    .to_zarr3 = to_zarr3_by<kZarr3PackBits>,
};

}  // namespace chunkwise
