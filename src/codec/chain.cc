#include "codec/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "codec/foreign.h"
#include "codec/registry.h"

namespace chunkwise {
namespace {

// HDF5 allows no more filters, and its filter mask has no more bits.
constexpr std::size_t kMaxCodecs = 32;
// Far above any memory; keeps the bounds below from wrapping.
constexpr std::size_t kMaxChunkBytes = std::numeric_limits<std::size_t>::max() >> 8;
// Other writers' encoders may be poorer than ours, by a factor and by headers.
constexpr std::size_t kForeignFactor = 2;
constexpr std::size_t kForeignSlackBytes = std::size_t{64} << 10;

void require_chunk_size(std::size_t decoded_bytes) {
  if (decoded_bytes <= kMaxChunkBytes) return;
  throw Error(Code::corrupt, fmt::format("a chunk of {} bytes is impossible", decoded_bytes));
}

std::size_t with_foreign_slack(std::size_t encoded_bytes) {
  return kForeignFactor * encoded_bytes + kForeignSlackBytes;
}

}  // namespace

CodecChain::CodecChain(const CodecSpecs& specs, std::size_t element_bytes) {
  if (specs.size() > kMaxCodecs) {
    throw Error(Code::corrupt,
                fmt::format("{} codecs in one chain, at most {} are possible", specs.size(), kMaxCodecs));
  }
  codecs_.reserve(specs.size());
  Elements seen{ElementKind::opaque, element_bytes, kNativeOrder};
  for (const CodecSpec& spec : specs) {
    const CodecRow* row = find_codec(spec.name);
    if (row == nullptr) {
      throw Error(
          Code::unsupported,
          fmt::format("{} is not supported, so its chunks can only be copied as they are", describe_unknown(spec)),
          "keep the chunks with -c VARIABLE:keep, or leave the variable out with --exclude");
    }
    codecs_.push_back(row->bind(spec, seen.bytes));
    seen = encoded_elements(spec, seen);
  }
}

std::size_t CodecChain::max_encoded_bytes(std::size_t decoded_bytes) const {
  require_chunk_size(decoded_bytes);
  std::size_t bytes = decoded_bytes;
  for (const auto& codec : codecs_) bytes = codec->max_encoded_bytes(bytes);
  return bytes;
}

std::size_t CodecChain::max_stored_bytes(std::size_t decoded_bytes) const {
  if (codecs_.empty()) return decoded_bytes;
  return with_foreign_slack(max_encoded_bytes(decoded_bytes));
}

CodecChain::ScratchNeed CodecChain::scratch_need(std::size_t decoded_bytes) const {
  require_chunk_size(decoded_bytes);
  // a and b hold the results of alternate codecs, whichever way the chain runs.
  std::array<std::size_t, 2> buffers{0, decoded_bytes};
  std::size_t own = 0;
  std::size_t bytes = decoded_bytes;
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    own += codecs_[i]->scratch_bytes(bytes);
    const std::size_t encoded = codecs_[i]->max_encoded_bytes(bytes);
    buffers[i % 2] = std::max(buffers[i % 2], encoded);
    // Decoding leaves its results one place further along.
    const std::size_t from_end = codecs_.size() - 1 - i;
    buffers[from_end % 2] = std::max(buffers[from_end % 2], bytes);
    bytes = encoded;
  }
  // A codec left out shifts the results of those that follow into the other buffer.
  if (codecs_.size() > 1) buffers.fill(std::max(buffers[0], buffers[1]));
  return {buffers[0], buffers[1], own};
}

ByteView CodecChain::encode(ByteView decoded, Scratch& scratch, std::uint32_t* skipped) const {
  ByteView current = decoded;
  Bytes* target = &scratch.a;  // first, so that `decoded` may lie in b
  Bytes* other = &scratch.b;
  if (skipped != nullptr) *skipped = 0;
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    if (skipped == nullptr) {
      codecs_[i]->encode(current, *target);
    } else if (!codecs_[i]->encode_or_skip(current, *target)) {
      *skipped |= std::uint32_t{1} << i;
      continue;
    }
    current = *target;
    std::swap(target, other);
  }
  return current;
}

void CodecChain::require_lossless() const {
  for (const auto& codec : codecs_) codec->require_lossless();
}

ByteView CodecChain::run_decoders(ByteView encoded, std::size_t most_bytes, std::uint32_t skipped,
                                  Scratch& scratch) const {
  // The most that may come out of each codec: exact as long as the codecs before it have results of fixed size.
  std::array<std::size_t, kMaxCodecs> limits{};
  std::size_t limit = most_bytes;
  bool exact = true;
  for (std::size_t i = 0; i < codecs_.size(); ++i) {
    limits[i] = exact ? limit : with_foreign_slack(limit);
    if ((skipped >> i & 1U) != 0) continue;
    limit = codecs_[i]->max_encoded_bytes(limit);
    exact = exact && codecs_[i]->fixed_size();
  }

  ByteView current = encoded;
  Bytes* target = &scratch.a;
  Bytes* other = &scratch.b;
  for (std::size_t i = codecs_.size(); i-- > 0;) {
    if ((skipped >> i & 1U) != 0) continue;
    codecs_[i]->decode(current, limits[i], *target);
    current = *target;
    std::swap(target, other);
  }
  return current;
}

ByteView CodecChain::decode(ByteView encoded, std::size_t decoded_bytes, std::uint32_t skipped,
                            Scratch& scratch) const {
  require_chunk_size(decoded_bytes);
  const ByteView decoded = run_decoders(encoded, decoded_bytes, skipped, scratch);
  if (decoded.size() != decoded_bytes) {
    throw Error(Code::corrupt, fmt::format("the chunk has {} bytes, expected {}", decoded.size(), decoded_bytes));
  }
  return decoded;
}

std::optional<ByteView> CodecChain::decode_at_most(ByteView encoded, std::size_t most_bytes, Scratch& scratch) const {
  require_chunk_size(most_bytes);
  try {
    const ByteView decoded = run_decoders(encoded, most_bytes, 0, scratch);
    if (decoded.size() <= most_bytes) return decoded;
  } catch (const DecodedTooLarge&) {
    // Nothing is known but that.
  }
  return std::nullopt;
}

}  // namespace chunkwise
