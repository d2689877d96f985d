// Many byte ranges of an object in few requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "store/store.h"

namespace chunkwise {

struct ByteRange {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::size_t slot = 0;  // the caller's number for it
};

/// The requests that fetch some ranges, in address order: neighbours become one if at most 64 KiB lie between them and
/// all such gaps together stay within 1/8 of the bytes asked for. Ranges must lie inside the object, and may overlap.
class Gather {
 public:
  /// Sorts `ranges`.
  explicit Gather(std::vector<ByteRange>& ranges);

  /// What the requests fetch.
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Fills `block`, of size_bytes(); result[i] views ranges[i]. Throws what Object::read throws.
  std::vector<ByteView> read(const Object& object, MutableByteView block) const;

 private:
  struct Request {
    std::uint64_t address = 0;
    std::uint64_t end = 0;
  };
  struct Place {
    std::size_t offset = 0;  // in the block
    std::size_t size_bytes = 0;
  };
  std::vector<Request> requests_;
  std::vector<Place> places_;  // of the ranges
  std::uint64_t size_bytes_ = 0;
};

/// All of it with a block of its own. Sorts `ranges`; result[i] views ranges[i].
std::vector<ByteView> gather(const Object& object, std::vector<ByteRange>& ranges, Bytes& block);

}  // namespace chunkwise
