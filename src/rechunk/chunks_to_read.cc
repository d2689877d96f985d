#include "rechunk/chunks_to_read.h"

#include <algorithm>
#include <variant>

namespace chunkwise {
namespace {

constexpr std::size_t kMostChunks = 4096;

}  // namespace

void ChunksToRead::clear() {
  chunks_.clear();
  next_ = 0;
}

bool ChunksToRead::add(const ArraySource& source, ChunkId id) {
  const ChunkRef ref = source.locate(id);
  if (std::holds_alternative<Absent>(ref)) return false;
  const auto* stored = std::get_if<StoredAt>(&ref);
  if (stored != nullptr)
    chunks_.push_back({stored->object, stored->offset_bytes, stored->length_bytes, id});
  else
    chunks_.push_back({0, 0, most_bytes(ref), id});
  return true;
}

void ChunksToRead::sort() {
  std::stable_sort(chunks_.begin(), chunks_.end(), [](const Located& a, const Located& b) {
    return a.object != b.object ? a.object < b.object : a.offset_bytes < b.offset_bytes;
  });
}

std::uint64_t ChunksToRead::take(std::uint64_t most_bytes, std::vector<ChunkId>& ids) {
  std::uint64_t bytes = 0;
  while (next_ < chunks_.size() && ids.size() < kMostChunks) {
    const std::uint64_t length = chunks_[next_].length_bytes;
    if (!ids.empty() && bytes + length > most_bytes) break;
    bytes += length;
    ids.push_back(chunks_[next_++].id);
  }
  return bytes;
}

}  // namespace chunkwise
