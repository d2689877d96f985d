#include "rechunk/element_tile.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "rechunk/each_offset.h"

namespace chunkwise {
namespace {

constexpr std::size_t kBlockBytes = 256U << 10U;

bool put_part(ElementSource& source, const Box& part, ElementTile& tile, std::vector<ElementView>& some) {
  if (source.read(part, some)) return tile.put(part, some);
  const std::vector<Box> parts = halves(part);
  CHUNKWISE_CHECK(!parts.empty());
  return std::all_of(parts.begin(), parts.end(), [&](const Box& half) { return put_part(source, half, tile, some); });
}

}  // namespace

bool ElementTile::begin(const Box& box, const ElementView& fill) {
  blocks_.clear();
  block_used_bytes_ = 0;
  elements_.clear();
  box_ = box;
  strides_ = dense_strides_bytes(box.shape, {}, 1);
  const auto n = static_cast<std::uint64_t>(product(box.shape));
  if (n > most_bytes_ / sizeof(ElementView)) return false;
  used_bytes_ = n * sizeof(ElementView);
  elements_.assign(static_cast<std::size_t>(n), fill);
  return true;
}

bool ElementTile::keep(ByteView bytes, ElementView& kept) {
  if (blocks_.empty() || blocks_.back().size() - block_used_bytes_ < bytes.size()) {
    const std::uint64_t left = most_bytes_ - used_bytes_;
    if (bytes.size() > left) return false;
    blocks_.emplace_back(std::max(bytes.size(), static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, left))));
    used_bytes_ += blocks_.back().size();
    block_used_bytes_ = 0;
  }
  std::byte* const at = blocks_.back().data() + block_used_bytes_;
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  block_used_bytes_ += bytes.size();
  kept = ElementView(ByteView(at, bytes.size()));
  return true;
}

bool ElementTile::put(const Box& part, std::span<const ElementView> elements) {
  CHUNKWISE_CHECK(static_cast<Index>(elements.size()) == product(part.shape));
  std::size_t next = 0;
  bool fits = true;
  for_each_offset(box_, strides_, part, [&](Index offset) {
    const ElementView& element = elements[next++];
    ElementView& place = elements_[static_cast<std::size_t>(offset)];
    if (element.size_bytes == 0)
      place = element.is_null() ? ElementView() : ElementView(ByteView());
    else
      fits = fits && keep(element.bytes(), place);
  });
  return fits;
}

void ElementTile::elements(const Box& part, std::vector<ElementView>& out) const {
  out.clear();
  for_each_offset(box_, strides_, part,
                  [&](Index offset) { out.push_back(elements_[static_cast<std::size_t>(offset)]); });
}

bool gather_elements(ElementSource& source, const Box& box, const ElementView& fill, ElementTile& tile) {
  if (!tile.begin(box, fill)) return false;
  const ChunkGrid grid = source.meta().grid();
  // A target may be longer than its source (netCDF records not yet written): what lies beyond reads as fill.
  const Box covered = intersect(box, whole(grid.array()));
  std::vector<ElementView> some;
  for (const ChunkId id : grid.overlapping(covered))
    if (source.is_written(id) && !put_part(source, intersect(grid.box(id), covered), tile, some)) return false;
  return true;
}

}  // namespace chunkwise
