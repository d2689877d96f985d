// Canonical "nbit": HDF5 filter 5. Of every element only the bits that its type uses, most significant bit first, one
// after the other. The parameters describe the type: {their number, nothing to do, elements of the chunk}, then
//   number    1, bytes, 1 if big-endian, bits used, bits unused below them
//   array     2, bytes, type of an item
//   compound  3, bytes, number of members, and for each its offset and type
//   any other 4, bytes
#include <fmt/format.h>

#include <algorithm>
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

constexpr Parameters kNbit{"nbit", "nbit  kept where an HDF5 dataset has it, not to be asked for"};
constexpr const char* kCd = "cd";
constexpr std::size_t kHeadPlaces = 3;
constexpr std::size_t kNothingToDo = 1;
constexpr std::size_t kElements = 2;
// Of one element; a type beyond is copied, not understood.
constexpr std::size_t kMostPieces = 1 << 16;
constexpr std::size_t kMostBytes = 1 << 20;

// Up to 8 bytes of an element that hold bits that are stored.
struct Piece {
  std::size_t offset = 0;
  unsigned n_bytes = 1;
  bool big_endian = false;
  unsigned n_bits = 8;
  unsigned shift = 0;  // unused bits below them

  /// Which byte of the number byte i in memory is, from the lowest.
  unsigned place_of(unsigned i) const { return big_endian ? n_bytes - 1 - i : i; }
};

struct Element {
  std::size_t n_bytes = 0;
  std::vector<Piece> pieces;  // in the order of the stream

  std::size_t n_bits() const {
    std::size_t sum = 0;
    for (const Piece& piece : pieces) sum += piece.n_bits;
    return sum;
  }
};

// Reads the description of a type.
class TypeReader {
 public:
  explicit TypeReader(std::span<const std::int64_t> cd) : cd_(cd) {}

  Element read() {
    Element element;
    element.n_bytes = read_type(0, element.pieces, 0);
    if (element.n_bytes > kMostBytes) refuse_size();
    return element;
  }

 private:
  enum Class : std::int64_t { kNumber = 1, kArray = 2, kCompound = 3, kOther = 4 };

  std::size_t take() {
    if (at_ == cd_.size()) throw Error(Code::corrupt, "codec 'nbit': its parameters end early");
    return static_cast<std::uint32_t>(cd_[at_++]);
  }

  [[noreturn]] static void refuse() {
    throw Error(Code::corrupt, "codec 'nbit': its parameters contradict themselves");
  }

  [[noreturn]] static void refuse_size() {
    throw Error(Code::unsupported, "HDF5 filter 5 (nbit) with such a large type is not supported");
  }

  static void add(std::vector<Piece>& pieces, const Piece& piece) {
    if (pieces.size() == kMostPieces) refuse_size();
    pieces.push_back(piece);
  }

  // Returns the bytes of the type that begins at `offset` of the element.
  std::size_t read_type(std::size_t offset, std::vector<Piece>& pieces, int depth) {
    constexpr int kMostDepth = 32;
    if (depth > kMostDepth) refuse();
    const std::size_t type_class = take();
    const std::size_t n_bytes = take();
    // Sizes are of a chunk, so below 4 GiB; sums of them do not wrap.
    if (n_bytes == 0) refuse();
    switch (static_cast<Class>(type_class)) {
      case kNumber:
        read_number(offset, n_bytes, pieces);
        return n_bytes;
      case kArray:
        read_array(offset, n_bytes, pieces, depth);
        return n_bytes;
      case kCompound: {
        const std::size_t n_members = take();
        for (std::size_t i = 0; i < n_members; ++i) {
          const std::size_t member = take();
          if (member > n_bytes || read_type(offset + member, pieces, depth + 1) > n_bytes - member) refuse();
        }
        return n_bytes;
      }
      case kOther:
        for (std::size_t done = 0; done < n_bytes; done += 8) {
          const auto n = static_cast<unsigned>(std::min<std::size_t>(8, n_bytes - done));
          add(pieces, {offset + done, n, true, 8 * n, 0});
        }
        return n_bytes;
    }
    refuse();
  }

  void read_array(std::size_t offset, std::size_t n_bytes, std::vector<Piece>& pieces, int depth) {
    const std::size_t first = pieces.size();
    const std::size_t item = read_type(offset, pieces, depth + 1);
    if (n_bytes % item != 0) refuse();
    const std::size_t n_pieces = pieces.size() - first;
    if (n_pieces == 0) return;
    for (std::size_t i = 1; i < n_bytes / item; ++i) {
      for (std::size_t k = 0; k < n_pieces; ++k) {
        Piece piece = pieces[first + k];
        piece.offset += i * item;
        add(pieces, piece);
      }
    }
  }

  // Cut at every 64 bits, counted from the lowest.
  void read_number(std::size_t offset, std::size_t n_bytes, std::vector<Piece>& pieces) {
    const bool big_endian = take() != 0;
    const std::size_t n_bits = take();
    const std::size_t lowest = take();
    if (n_bits == 0 || n_bits > 8 * n_bytes || lowest > 8 * n_bytes - n_bits) refuse();
    const std::size_t end = lowest + n_bits;
    for (std::size_t word = (end - 1) / 64 + 1; word-- > lowest / 64;) {
      const auto size = static_cast<unsigned>(std::min<std::size_t>(8, n_bytes - 8 * word));
      const std::size_t from = std::max(lowest, 64 * word);
      const std::size_t to = std::min(end, 64 * word + 8 * size);
      const std::size_t place = big_endian ? n_bytes - 8 * word - size : 8 * word;
      add(pieces, {offset + place, size, big_endian, static_cast<unsigned>(to - from),
                   static_cast<unsigned>(from - 64 * word)});
    }
  }

  std::span<const std::int64_t> cd_;
  std::size_t at_ = 0;
};

std::uint64_t load(const Piece& piece, const std::byte* element) {
  const std::byte* from = element + piece.offset;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < piece.n_bytes; ++i) {
    value |= static_cast<std::uint64_t>(from[i]) << (8 * piece.place_of(i));
  }
  return value;
}

// Members of a hostile compound may overlap; bits of the later one come on top, as in the library.
void merge(const Piece& piece, std::uint64_t value, std::byte* element) {
  std::byte* to = element + piece.offset;
  for (unsigned i = 0; i < piece.n_bytes; ++i) {
    to[i] |= static_cast<std::byte>(value >> (8 * piece.place_of(i)));
  }
}

class Nbit final : public Codec {
 public:
  Nbit(Element element, std::size_t n_elements, bool nothing_to_do)
      : element_(std::move(element)),
        n_bits_(element_.n_bits()),
        n_elements_(n_elements),
        nothing_to_do_(nothing_to_do),
        loose_(element_.n_bytes, std::byte{0xFF}) {
    for (const Piece& piece : element_.pieces) {
      const std::uint64_t stored = low_bits(piece.n_bits) << piece.shift;
      for (unsigned i = 0; i < piece.n_bytes; ++i) {
        loose_[piece.offset + i] &= ~static_cast<std::byte>(stored >> (8 * piece.place_of(i)));
      }
    }
    has_loose_ = std::any_of(loose_.begin(), loose_.end(), [](std::byte bits) { return bits != std::byte{0}; });
  }

  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override {
    if (nothing_to_do_) return decoded_bytes;
    return std::max(decoded_bytes, decoded_bytes / element_.n_bytes * n_bits_ / 8 + 1);
  }

  // The description itself, of one array at a time.
  std::size_t scratch_bytes(std::size_t) const override {
    return element_.n_bytes + element_.pieces.size() * sizeof(Piece);
  }

  void encode(ByteView decoded, Bytes& encoded) const override {
    if (encode_or_skip(decoded, encoded)) return;
    throw Error(Code::unsupported, "nbit cannot take these elements: they use bits that their type does not");
  }

  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    if (nothing_to_do_) {
      encoded.resize_discard(decoded.size());
      if (!decoded.empty()) std::memcpy(encoded.data(), decoded.data(), decoded.size());
      return true;
    }
    if (decoded.size() % element_.n_bytes != 0 || has_loose_bits(decoded)) return false;
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    BitWriter writer(encoded.data());
    for (std::size_t at = 0; at < decoded.size(); at += element_.n_bytes) {
      for (const Piece& piece : element_.pieces) {
        writer.write(load(piece, decoded.data() + at) >> piece.shift & low_bits(piece.n_bits), piece.n_bits);
      }
    }
    encoded.resize(static_cast<std::size_t>(writer.finish() - encoded.data()));
    return true;
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    const std::size_t size = nothing_to_do_ ? encoded.size() : n_elements_ * element_.n_bytes;
    if (size > max_decoded_bytes) throw_decoded_too_large("nbit", max_decoded_bytes);
    if (nothing_to_do_) {
      decoded.resize_discard(size);
      if (size > 0) std::memcpy(decoded.data(), encoded.data(), size);
      return;
    }
    // Pieces of an element are bounded, and so is the product: no wrap below 2^64.
    if (encoded.size() < (n_elements_ * n_bits_ + 7) / 8) throw Error(Code::corrupt, "nbit data ends early");
    decoded.resize_discard(size);
    if (size > 0) std::memset(decoded.data(), 0, size);
    BitReader reader(encoded);
    for (std::size_t i = 0; i < n_elements_; ++i) {
      for (const Piece& piece : element_.pieces) {
        merge(piece, reader.read(piece.n_bits) << piece.shift, decoded.data() + i * element_.n_bytes);
      }
    }
  }

 private:
  // Bits that decoding would not give back.
  bool has_loose_bits(ByteView decoded) const {
    if (!has_loose_) return false;
    for (std::size_t at = 0; at < decoded.size(); at += loose_.size()) {
      for (std::size_t i = 0; i < loose_.size(); ++i) {
        if ((decoded[at + i] & loose_[i]) != std::byte{0}) return true;
      }
    }
    return false;
  }

  Element element_;
  std::size_t n_bits_;
  std::size_t n_elements_;
  bool nothing_to_do_;
  std::vector<std::byte> loose_;  // of an element: the bits that are not stored
  bool has_loose_ = false;
};

// ---- spellings

const std::vector<std::int64_t>& cd_of(const CodecSpec& spec) {
  const auto found = spec.params.find(kCd);
  const auto* values = found != spec.params.end() ? std::get_if<std::vector<std::int64_t>>(&found->second) : nullptr;
  if (values == nullptr || values->size() < kHeadPlaces) {
    throw Error(Code::corrupt, "codec 'nbit': the filter has too few parameters");
  }
  return *values;
}

Element element_of(const CodecSpec& spec) {
  const std::vector<std::int64_t>& cd = cd_of(spec);
  return TypeReader(std::span(cd).subspan(kHeadPlaces)).read();
}

std::unique_ptr<Codec> bind(const CodecSpec& spec, std::size_t) {
  const std::vector<std::int64_t>& cd = cd_of(spec);
  const bool nothing_to_do = cd[kNothingToDo] != 0;
  const auto n_elements = static_cast<std::size_t>(static_cast<std::uint32_t>(cd[kElements]));
  Element element;
  element.n_bytes = 1;
  // What is not to be compressed may have no description.
  if (!nothing_to_do) element = element_of(spec);
  return std::make_unique<Nbit>(std::move(element), n_elements, nothing_to_do);
}

CodecSpec for_chunk(const CodecSpec& spec, const ChunkTraits& traits) {
  CodecSpec fitted = spec;
  std::vector<std::int64_t> cd = cd_of(spec);
  cd[kElements] = static_cast<std::int64_t>(checked_product(traits.chunk).value_or(0));
  fitted.params[kCd] = std::move(cd);
  return fitted;
}

CodecSpec from_hdf5(std::span<const unsigned> cd_values) {
  CodecSpec spec{"nbit", {{kCd, std::vector<std::int64_t>(cd_values.begin(), cd_values.end())}}};
  bind(spec, 1);
  return spec;
}

std::vector<unsigned> to_hdf5(const CodecSpec& spec, std::size_t element_bytes, std::size_t chunk_bytes) {
  std::vector<unsigned> values;
  for (const std::int64_t value : cd_of(spec)) values.push_back(static_cast<unsigned>(value));
  values[kElements] = static_cast<unsigned>(chunk_bytes / std::max<std::size_t>(element_bytes, 1));
  return values;
}

}  // namespace

constexpr CodecRow kNbitRow{
    .name = kNbit.codec,
    .summary = "HDF5's n-bit",
    .usage = kNbit.usage,
    .bind = bind,
    .for_chunk = for_chunk,
    .print = print_by<kNbit>,
    .hdf5_filter = 5,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
