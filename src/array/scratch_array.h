// An array that exists only between two stages of a rewrite, in a file without a name.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "array/meta.h"
#include "array/source.h"
#include "grid/cut_grid.h"
#include "store/posix_file.h"

namespace chunkwise {

/// Encoded boxes of a CutGrid, each stored once; numbers are of that grid, not of the sources' and sinks' own. The file
/// is gone when this is, however the process ends. Thread-safe. It must outlive its source and its sink.
class ScratchArray {
 public:
  /// `meta` is that of the boxes' elements; its chunk is the largest box. Makes the file in `folder`. Throws Error{io}.
  ScratchArray(const ArrayMeta& meta, const CutGrid& boxes, const std::string& folder);

  /// Its write() throws Error{io} naming the folder. It writes nothing for an absent box.
  std::unique_ptr<ArraySink> sink();
  /// To be asked only when all is written. Its read() throws Error{io}; Error{mismatch} where bytes came back that were
  /// not written.
  std::unique_ptr<ArraySource> source() const;

  /// Memory that it takes for so many boxes.
  static std::uint64_t index_bytes(std::uint64_t n_boxes) { return n_boxes * sizeof(Place); }

 private:
  class Sink;
  class Source;
  class File;
  struct Place {
    std::uint64_t offset_bytes = 0;
    std::uint32_t size_bytes = 0;  // 0: absent
    std::uint32_t check = 0;       // of its bytes
  };

  ArrayMeta meta_;
  std::shared_ptr<const File> file_;
  std::vector<Place> places_;
  std::atomic<std::uint64_t> end_bytes_{0};
};

/// A way to encode the boxes, and how large they get beside what a codec of usual strength makes of them.
struct ScratchCodecs {
  CodecSpecs codecs;
  double size_over_usual = 1;
};
/// Those for elements of this size: nothing, a fast one, a strong one.
std::vector<ScratchCodecs> scratch_codecs(std::size_t element_bytes);

}  // namespace chunkwise
