#include "format/hdf5/gather.h"

#include <algorithm>

namespace chunkwise::hdf5 {
namespace {

constexpr std::uint64_t kMaxGapBytes = 64U << 10U;
constexpr std::uint64_t kGapShare = 8;

struct Request {
  std::uint64_t address = 0;
  std::uint64_t end = 0;
};

}  // namespace

std::vector<ByteView> gather(const Object& object, std::vector<ByteRange>& ranges, Bytes& block) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) {
    return a.address != b.address ? a.address < b.address : a.size_bytes < b.size_bytes;
  });
  std::uint64_t wanted_bytes = 0;
  for (const ByteRange& range : ranges) wanted_bytes += range.size_bytes;
  std::uint64_t gap_budget_bytes = wanted_bytes / kGapShare;

  std::vector<Request> requests;
  std::vector<std::size_t> offsets(ranges.size());  // in the block
  std::uint64_t block_bytes = 0;                    // of all requests but the last
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const ByteRange& range = ranges[i];
    const std::uint64_t end = range.address + range.size_bytes;
    bool merged = false;
    if (!requests.empty()) {
      Request& last = requests.back();
      const std::uint64_t gap_bytes = range.address > last.end ? range.address - last.end : 0;
      merged = gap_bytes <= std::min(kMaxGapBytes, gap_budget_bytes);
      if (merged) {
        gap_budget_bytes -= gap_bytes;
        last.end = std::max(last.end, end);
      } else {
        block_bytes += last.end - last.address;
      }
    }
    if (!merged) requests.push_back({range.address, end});
    offsets[i] = static_cast<std::size_t>(block_bytes + (range.address - requests.back().address));
  }
  if (!requests.empty()) block_bytes += requests.back().end - requests.back().address;

  block.resize_discard(static_cast<std::size_t>(block_bytes));
  std::size_t at = 0;
  for (const Request& request : requests) {
    const auto size_bytes = static_cast<std::size_t>(request.end - request.address);
    if (size_bytes > 0) object.read(request.address, block.span().subspan(at, size_bytes));
    at += size_bytes;
  }
  std::vector<ByteView> views(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    views[i] = block.view().subspan(offsets[i], static_cast<std::size_t>(ranges[i].size_bytes));
  }
  return views;
}

}  // namespace chunkwise::hdf5
