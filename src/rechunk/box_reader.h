// Elements of any box of an array.
#pragma once

#include <vector>

#include "array/element_change.h"
#include "array/source.h"
#include "codec/chain.h"
#include "rechunk/plan.h"

namespace chunkwise {

/// Decodes parts of arrays into dense buffers, as elements of the array `shown`, on all cores. Not thread-safe.
class BoxReader {
 public:
  BoxReader(const ArraySource& source, const ArrayMeta& shown, std::uint64_t batch_bytes, int n_threads);

  /// C order. What is absent reads as fill. Throws what reading and decoding throw.
  void read(const Box& box, Bytes& elements);

 private:
  const ArraySource& source_;
  ByteOrder order_;
  ElementSize element_;
  ElementChange change_;
  std::uint64_t batch_bytes_;
  CodecChain chain_;
  std::vector<std::byte> fill_;
  std::vector<CodecChain::Scratch> scratch_;  // of each thread
};

}  // namespace chunkwise
