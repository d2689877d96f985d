// The codecs of one array, in order of encoding.
#pragma once

#include <cstdint>
#include <memory>
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
  /// Both Scratch buffers and the codecs' own memory, for one thread.
  std::size_t scratch_bytes(std::size_t decoded_bytes) const;

  /// The result lies in `scratch`, or is `decoded` itself for an empty chain; valid until scratch is used again.
  ByteView encode(ByteView decoded, Scratch& scratch) const;
  /// Bit i of `skipped` set: codec i was not applied to this chunk (HDF5 filter mask).
  /// Throws Error{corrupt} unless exactly `decoded_bytes` come out.
  ByteView decode(ByteView encoded, std::size_t decoded_bytes, std::uint32_t skipped, Scratch& scratch) const;

 private:
  std::vector<std::shared_ptr<const Codec>> codecs_;
};

}  // namespace chunkwise
