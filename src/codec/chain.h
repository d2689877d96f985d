// The codecs of one array, in order of encoding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "codec/codec.h"
#include "codec/spec.h"

namespace chunkwise {

/// Immutable, thread-safe, cheap to copy.
class CodecChain {
 public:
  /// Buffers of one thread, reused from chunk to chunk.
  struct Scratch {
    Bytes a;
    Bytes b;
  };

  CodecChain() = default;
  /// Throws Error{unsupported} naming a codec that cannot be used, Error{corrupt} for impossible parameters.
  CodecChain(const CodecSpecs& specs, std::size_t element_bytes);

  bool empty() const { return codecs_.empty(); }
  /// Largest result of encode for chunks of this size.
  std::size_t max_encoded_bytes(std::size_t decoded_bytes) const;
  /// Largest stored chunk that is believed when another program wrote it; beyond it the file is corrupt.
  std::size_t max_stored_bytes(std::size_t decoded_bytes) const;
  /// Memory of one thread, with the chunk to encode lying in Scratch::b.
  struct ScratchNeed {
    std::size_t a_bytes = 0;
    std::size_t b_bytes = 0;
    std::size_t codec_bytes = 0;  // the codecs' own
    std::size_t total_bytes() const { return a_bytes + b_bytes + codec_bytes; }
  };
  ScratchNeed scratch_need(std::size_t decoded_bytes) const;

  /// The result lies in `scratch`, or is `decoded` itself for an empty chain; valid until scratch is used again.
  /// `decoded` may lie in scratch.b, which is then overwritten. With `skipped`, codecs may be left out where that is
  /// better; their bits are then set.
  ByteView encode(ByteView decoded, Scratch& scratch, std::uint32_t* skipped = nullptr) const;
  /// Throws Error{unsupported} naming a codec that would not give back every value.
  void require_lossless() const;
  /// Bit i of `skipped` set: codec i was not applied to this chunk (HDF5 filter mask).
  /// Throws Error{corrupt} unless exactly `decoded_bytes` come out.
  ByteView decode(ByteView encoded, std::size_t decoded_bytes, std::uint32_t skipped, Scratch& scratch) const;
  /// For chunks that do not say how large they are: nothing if more than `most_bytes` come out.
  std::optional<ByteView> decode_at_most(ByteView encoded, std::size_t most_bytes, Scratch& scratch) const;

 private:
  ByteView run_decoders(ByteView encoded, std::size_t most_bytes, std::uint32_t skipped, Scratch& scratch) const;

  std::vector<std::shared_ptr<const Codec>> codecs_;
};

}  // namespace chunkwise
