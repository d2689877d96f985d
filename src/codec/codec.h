// One codec: bytes to bytes.
#pragma once

#include <cstddef>
#include <memory>

#include "base/bytes.h"
#include "base/error.h"

namespace chunkwise {

/// What Codec::decode throws when the result would pass the limit, which is no proof of damage where the limit is one
/// of memory only.
class DecodedTooLarge : public Error {
 public:
  using Error::Error;
};

/// Bound to one array's element size and parameters; immutable and thread-safe.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Upper bound of what encode makes of this many bytes; also accepted from other writers with slack (see chain.h).
  virtual std::size_t max_encoded_bytes(std::size_t decoded_bytes) const = 0;
  /// True if encode always makes exactly max_encoded_bytes (shuffle, checksums), so the size check before it can be
  /// exact.
  virtual bool fixed_size() const { return false; }
  /// Memory one thread needs while it encodes or decodes, besides input and output.
  virtual std::size_t scratch_bytes(std::size_t decoded_bytes) const {
    (void)decoded_bytes;
    return 0;
  }
  /// Replaces `encoded` (its block is reused). Throws Error{unsupported} where the codec has a size limit.
  virtual void encode(ByteView decoded, Bytes& encoded) const = 0;
  /// Like encode; or false, with `encoded` undefined, where this chunk is better stored without the codec. For places
  /// that can say so (HDF5's filter mask).
  virtual bool encode_or_skip(ByteView decoded, Bytes& encoded) const {
    encode(decoded, encoded);
    return true;
  }
  /// Throws Error{unsupported} if encoding again might change values (lossy codecs): their chunks can be decoded, and
  /// copied as they are, but not made anew.
  virtual void require_lossless() const {}
  /// Replaces `decoded`. Throws Error{corrupt} on any malformed input, DecodedTooLarge{corrupt} when the result would
  /// pass `max_decoded_bytes`; never reads or writes out of bounds, never allocates more than max_decoded_bytes + O(1
  /// MiB).
  virtual void decode(ByteView encoded, std::size_t max_decoded_bytes, Bytes& decoded) const = 0;
};

}  // namespace chunkwise
