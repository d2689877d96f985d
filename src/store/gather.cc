#include "store/gather.h"

#include <algorithm>

namespace chunkwise {
namespace {

constexpr std::uint64_t kMaxGapBytes = 64U << 10U;
constexpr std::uint64_t kGapShare = 8;

}  // namespace

Gather::Gather(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
    return a.address != b.address ? a.address < b.address : a.size_bytes < b.size_bytes;
  });
  std::uint64_t wanted_bytes = 0;
  for (const ByteRange& range : ranges) wanted_bytes += range.size_bytes;
  std::uint64_t gap_budget_bytes = wanted_bytes / kGapShare;

  places_.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    const std::uint64_t end = range.address + range.size_bytes;
    bool merged = false;
    if (!requests_.empty()) {
      Request& last = requests_.back();
      const std::uint64_t gap_bytes = range.address > last.end ? range.address - last.end : 0;
      merged = gap_bytes <= std::min(kMaxGapBytes, gap_budget_bytes);
      if (merged) {
        gap_budget_bytes -= gap_bytes;
        last.end = std::max(last.end, end);
      } else {
        size_bytes_ += last.end - last.address;
      }
    }
    if (!merged) requests_.push_back({range.address, end});
    places_.push_back({static_cast<std::size_t>(size_bytes_ + (range.address - requests_.back().address)),
                       static_cast<std::size_t>(range.size_bytes)});
  }
  if (!requests_.empty()) size_bytes_ += requests_.back().end - requests_.back().address;
}

std::vector<ByteView> Gather::read(const Object& object, MutableByteView block) const {
  std::size_t at = 0;
  for (const Request& request : requests_) {
    const auto size_bytes = static_cast<std::size_t>(request.end - request.address);
    if (size_bytes > 0) object.read(request.address, block.subspan(at, size_bytes));
    at += size_bytes;
  }
  std::vector<ByteView> views;
  views.reserve(places_.size());
  for (const Place& place : places_) views.emplace_back(block.subspan(place.offset, place.size_bytes));
  return views;
}

std::vector<ByteView> gather(const Object& object, std::vector<ByteRange>& ranges, Bytes& block) {
  const Gather requests(ranges);
  block.resize_discard(static_cast<std::size_t>(requests.size_bytes()));
  return requests.read(object, block.span());
}

}  // namespace chunkwise
