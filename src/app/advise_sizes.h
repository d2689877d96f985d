// How well an array compresses in other chunks and with other codecs: real data, encoded again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "array/dataset.h"
#include "base/bytes.h"

namespace chunkwise {

/// Stored bytes per byte before encoding.
struct SampledRatio {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

/// Boxes of an array, spread over it, decoded. Immutable but for results it remembers; one thread.
class SizeSampler {
 public:
  /// Reads boxes of about `sample_bytes` together, decoded, and no chunk of more than four times that. Why there is
  /// nothing to judge by is in why_not() then. Throws Error{corrupt}, Error{io}, Error{unsupported} as reading does.
  SizeSampler(const ArraySource& source, std::uint64_t sample_bytes);

  /// Looks at nothing.
  explicit SizeSampler(std::string why_not) : why_not_(std::move(why_not)) {}

  bool empty() const { return boxes_.empty(); }
  const std::string& why_not() const { return why_not_; }
  std::size_t n_boxes() const { return boxes_.size(); }
  /// Of the boxes.
  std::uint64_t decoded_bytes() const;

  /// Of chunks of this shape with these codecs: what they make of the boxes, by what the present chunks and codecs make
  /// of them, times what the array takes now. The interval has the boxes that differ most, and is wider where chunks
  /// are larger than the boxes. `quickly`: of the first box alone.
  SampledRatio ratio(const Shape& chunk, const CodecSpecs& codecs, bool quickly = false) const;

 private:
  struct Sampled {
    Box box;
    Bytes elements;  // dense, in C order, in the array's byte order
  };
  /// Encoded by decoded bytes of each box cut into such chunks.
  std::vector<double> encoded_shares(const Shape& chunk, const CodecSpecs& codecs, std::size_t n_boxes) const;
  void take(const ArraySource& source, const Box& box);

  ArrayMeta meta_;
  double stored_ratio_ = 1;  // of all that is written
  bool has_codecs_ = false;
  std::vector<Sampled> boxes_;
  std::string why_not_;
  mutable std::vector<double> present_shares_;  // of the present chunks and codecs
  mutable std::map<std::string, SampledRatio> known_;
};

/// Opens array `path` for it. Addresses of very many chunks are not collected unless `thoroughly`. Reading that fails
/// is a reason not to judge, too: advice does not depend on it.
SizeSampler sample_array(const Reader& reader, const ArrayMeta& meta, std::uint64_t sample_bytes, bool thoroughly);

}  // namespace chunkwise
