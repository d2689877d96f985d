#include "format/hdf5/allocation.h"

#include <algorithm>

#include "base/error.h"

namespace chunkwise::hdf5 {

void pack(Packer& out, const std::vector<Allocation>& allocations) {
  out.number(allocations.size());
  for (const Allocation& one : allocations) {
    out.number(one.array);
    out.number(static_cast<std::uint64_t>(linear(one.chunk)));
    out.number(one.size_bytes);
    out.number(one.filter_mask);
    out.number(one.address);
  }
}

std::vector<Allocation> unpack_allocations(ByteView packed) {
  Unpacker in(packed);
  std::vector<Allocation> allocations;
  for (std::uint64_t n = in.number(); n > 0; --n) {
    Allocation one;
    one.array = static_cast<std::uint32_t>(in.number());
    one.chunk = ChunkId{static_cast<Index>(in.number())};
    one.size_bytes = in.number();
    one.filter_mask = static_cast<std::uint32_t>(in.number());
    one.address = in.number();
    constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
    if (one.size_bytes > kMost || one.address > kMost) throw Error(Code::corrupt, "a place beyond any file");
    allocations.push_back(one);
  }
  return allocations;
}

void KeptRanges::add(std::uint64_t address, std::uint64_t size_bytes) {
  // Places are mostly given one behind the other.
  if (!ranges_.empty() && ranges_.back().end == address)
    ranges_.back().end += size_bytes;
  else
    ranges_.push_back({address, address + size_bytes});
}

void KeptRanges::sort() {
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::size_t n = 0;
  for (const Range& range : ranges_) {
    if (n > 0 && range.begin <= ranges_[n - 1].end)
      ranges_[n - 1].end = std::max(ranges_[n - 1].end, range.end);
    else
      ranges_[n++] = range;
  }
  ranges_.resize(n);
}

std::size_t KeptRanges::first_after(std::uint64_t address) const {
  const auto found = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                      [](std::uint64_t value, const Range& range) { return value < range.end; });
  return static_cast<std::size_t>(found - ranges_.begin());
}

}  // namespace chunkwise::hdf5
