// Canonical "lzf": HDF5 filter 32000. A stream of instructions, by the first byte c:
//   c < 32:   the next c + 1 bytes as they are
//   c >= 32:  copy from the output made so far: length c >> 5, plus 2, plus one more byte if c >> 5 is 7; then a byte
//             that with the low 5 bits of c is the distance, less 1
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "codec/parameters.h"
#include "codec/rows.h"

namespace chunkwise {
namespace {

constexpr Parameters kLzf{"lzf", "lzf  LZF as h5py stores it; no parameters"};
constexpr std::size_t kMostLiterals = 32;
constexpr std::size_t kLeastMatch = 3;
constexpr std::size_t kMostMatch = 2 + 7 + 255;
constexpr std::size_t kMostDistance = std::size_t{1} << 13;
constexpr unsigned kLongMatch = 7;
constexpr int kTableBits = 14;
// After every so many bytes without a match, one more of them is not tried, up to a limit that finds the next plane of
// shuffled bytes soon.
constexpr std::size_t kPatienceShift = 6;
constexpr std::size_t kMostStep = 32;

std::uint32_t load3(const std::byte* from) {
  return static_cast<std::uint32_t>(from[0]) | static_cast<std::uint32_t>(from[1]) << 8 |
         static_cast<std::uint32_t>(from[2]) << 16;
}

std::size_t slot_of(std::uint32_t three_bytes) {
  return three_bytes * 2654435761U >> (32 - kTableBits);
}

std::uint64_t load8(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, 8);
  return value;
}

// Length of what is equal at both places, at most `most`.
std::size_t match_length(const std::byte* a, const std::byte* b, std::size_t most) {
  std::size_t n = 0;
  for (; n + 8 <= most; n += 8) {
    if (load8(a + n) != load8(b + n)) break;
  }
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

// Room for the literals as they are and a byte before every 32 of them.
std::size_t literal_bytes(std::size_t n) {
  return n + (n + kMostLiterals - 1) / kMostLiterals;
}

class Writer {
 public:
  // Room for literal_bytes of all that is encoded is enough: a match is never longer than what it stands for.
  explicit Writer(std::byte* to) : to_(to) {}

  void literals(const std::byte* from, std::size_t n) {
    while (n > 0) {
      const std::size_t run = std::min(n, kMostLiterals);
      *to_++ = static_cast<std::byte>(run - 1);
      std::memcpy(to_, from, run);
      to_ += run;
      from += run;
      n -= run;
    }
  }

  void match(std::size_t distance, std::size_t length) {
    const std::size_t far = distance - 1;
    const std::size_t coded = length - 2;
    const auto low = static_cast<unsigned>(far >> 8);
    if (coded < kLongMatch) {
      *to_++ = static_cast<std::byte>(static_cast<unsigned>(coded) << 5 | low);
    } else {
      *to_++ = static_cast<std::byte>(kLongMatch << 5 | low);
      *to_++ = static_cast<std::byte>(coded - kLongMatch);
    }
    *to_++ = static_cast<std::byte>(far & 0xFF);
  }

  std::byte* end() const { return to_; }

 private:
  std::byte* to_;
};

std::size_t compress(ByteView decoded, std::byte* encoded) {
  // Where three such bytes were last seen, modulo 2^32; what is found is checked.
  std::array<std::uint32_t, std::size_t{1} << kTableBits> seen{};
  const std::byte* const data = decoded.data();
  const std::size_t size = decoded.size();
  Writer writer(encoded);
  std::size_t literals_from = 0;
  std::size_t at = 1;  // at 0 nothing lies before
  while (at + kLeastMatch <= size) {
    const std::uint32_t three = load3(data + at);
    std::uint32_t& entry = seen[slot_of(three)];
    const std::size_t distance = static_cast<std::uint32_t>(static_cast<std::uint32_t>(at) - entry);
    entry = static_cast<std::uint32_t>(at);
    if (distance == 0 || distance > std::min(kMostDistance, at) || load3(data + at - distance) != three) {
      at += std::min(1 + ((at - literals_from) >> kPatienceShift), kMostStep);
      continue;
    }
    const std::size_t length = match_length(data + at, data + at - distance, std::min(kMostMatch, size - at));
    writer.literals(data + literals_from, at - literals_from);
    writer.match(distance, length);
    const std::size_t end = at + length;
    // The end of a match is where the next one likely starts.
    for (std::size_t i = end - 2; i < end && i + kLeastMatch <= size; ++i) {
      seen[slot_of(load3(data + i))] = static_cast<std::uint32_t>(i);
    }
    literals_from = at = end;
  }
  writer.literals(data + literals_from, size - literals_from);
  return static_cast<std::size_t>(writer.end() - encoded);
}

[[noreturn]] void throw_early_end() {
  throw Error(Code::corrupt, "lzf data ends early");
}

// Overlapping copies repeat what they have just made.
void copy_match(std::byte* to, std::size_t distance, std::size_t length, const std::byte* room_end) {
  const std::byte* from = to - distance;
  if (distance >= 8 && static_cast<std::size_t>(room_end - to) >= length + 8) {
    for (std::size_t n = 0; n < length; n += 8) std::memcpy(to + n, from + n, 8);
  } else if (distance == 1) {
    std::memset(to, static_cast<int>(*from), length);
  } else {
    for (std::size_t n = 0; n < length; ++n) to[n] = from[n];
  }
}

class Lzf final : public Codec {
 public:
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const override { return literal_bytes(decoded_bytes); }

  // On the stack of the thread.
  std::size_t scratch_bytes(std::size_t) const override { return sizeof(std::uint32_t) << kTableBits; }

  void encode(ByteView decoded, Bytes& encoded) const override {
    encoded.resize_discard(max_encoded_bytes(decoded.size()));
    encoded.resize(compress(decoded, encoded.data()));
  }

  bool encode_or_skip(ByteView decoded, Bytes& encoded) const override {
    encode(decoded, encoded);
    return encoded.size() < decoded.size();
  }

  void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const override {
    // One byte makes at most 88 (three make 264).
    constexpr std::size_t kMostFactor = 88;
    decoded.resize_discard(std::min(max_decoded_bytes, kMostFactor * encoded.size()));
    std::byte* const begin = decoded.data();
    std::byte* const room_end = begin + decoded.size();
    std::byte* to = begin;
    const std::byte* from = encoded.data();
    const std::byte* const end = from + encoded.size();
    while (from < end) {
      const auto control = static_cast<unsigned>(*from++);
      const auto room = static_cast<std::size_t>(room_end - to);
      const auto left = static_cast<std::size_t>(end - from);
      if (control < kMostLiterals) {
        const std::size_t n = control + 1;
        if (n > left) throw_early_end();
        if (n > room) throw_decoded_too_large("lzf", max_decoded_bytes);
        if (left >= kMostLiterals && room >= kMostLiterals) {
          std::memcpy(to, from, kMostLiterals);
        } else {
          std::memcpy(to, from, n);
        }
        from += n;
        to += n;
        continue;
      }
      const bool is_long = control >> 5 == kLongMatch;
      if (left < (is_long ? 2U : 1U)) throw_early_end();
      std::size_t length = (control >> 5) + 2;
      if (is_long) length += static_cast<std::size_t>(*from++);
      const std::size_t distance =
          (static_cast<std::size_t>(control & 31U) << 8 | static_cast<std::size_t>(*from++)) + 1;
      if (distance > static_cast<std::size_t>(to - begin)) {
        throw Error(Code::corrupt, "lzf data refers to bytes before its start");
      }
      if (length > room) throw_decoded_too_large("lzf", max_decoded_bytes);
      copy_match(to, distance, length, room_end);
      to += length;
    }
    decoded.resize(static_cast<std::size_t>(to - begin));
  }
};

// ---- spellings

std::unique_ptr<Codec> bind(const CodecSpec&, std::size_t) {
  return std::make_unique<Lzf>();
}

// Revision, version of the library, chunk bytes: nothing that matters for decoding.
CodecSpec from_hdf5(std::span<const unsigned>) {
  return {"lzf", {}};
}

std::vector<unsigned> to_hdf5(const CodecSpec&, std::size_t, std::size_t chunk_bytes) {
  constexpr unsigned kFilterRevision = 4;
  constexpr unsigned kLibraryVersion = 0x0105;
  if (chunk_bytes > std::numeric_limits<unsigned>::max()) {
    throw Error(Code::unsupported, fmt::format("lzf cannot hold a chunk of {} bytes", chunk_bytes));
  }
  return {kFilterRevision, kLibraryVersion, static_cast<unsigned>(chunk_bytes)};
}

}  // namespace

constexpr CodecRow kLzfRow{
    .name = kLzf.codec,
    .summary = "LZF, h5py's own fast compressor",
    .usage = kLzf.usage,
    .bind = bind,
    .parse = parse_by<kLzf>,
    .print = print_by<kLzf>,
    .hdf5_filter = 32000,
    .from_hdf5 = from_hdf5,
    .to_hdf5 = to_hdf5,
};

}  // namespace chunkwise
