// Elements with lists, read into memory that has a limit.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/hdf5/element_form.h"
#include "grid/box.h"

namespace chunkwise::hdf5 {

/// Holds the elements of one box of a dataset and all that their lists hold. Reused from box to box.
class ElementBuffer {
 public:
  /// At most `most_bytes` at a time, the elements themselves included.
  explicit ElementBuffer(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  ElementBuffer(const ElementBuffer&) = delete;
  ElementBuffer& operator=(const ElementBuffer&) = delete;

  /// Reads `box`. False if it takes more than there may be; then the buffer is empty. `what` is for messages.
  bool read(const Lock& lock, hid_t dataset, const MemoryForm& form, const Box& box, const std::string& what);
  std::byte* data() { return elements_.data(); }
  /// Bytes of the elements and their lists.
  std::uint64_t size_bytes() const { return used_bytes_; }

 private:
  static void* allocate(std::size_t size_bytes, void* self) noexcept;
  static void ignore(void*, void*) noexcept {}
  void clear();

  std::uint64_t most_bytes_;
  std::uint64_t used_bytes_ = 0;
  bool overflowed_ = false;
  std::vector<std::byte> elements_;
  std::deque<Bytes> blocks_;
  std::size_t block_used_bytes_ = 0;  // of the last one
};

/// The part of a dataset that `box` covers, selected, and a memory space for it. A box without axes is all of a scalar.
struct BoxSpaces {
  Hid file;
  Hid memory;
};
BoxSpaces box_spaces(const Lock& lock, hid_t dataset, const Box& box, const std::string& what);

}  // namespace chunkwise::hdf5
