#include "format/hdf5/chunk_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/sizes.h"

namespace chunkwise::hdf5 {
namespace {

// Above, walking the whole grid takes minutes; then only what is stored is asked for, at O(stored) each.
constexpr Index kMaxWalk = Index{1} << 30;
constexpr Index kMaxStoredWalk = 4096;
// A grid so much larger than what is stored is not worth walking.
constexpr Index kSparseFactor = 4096;

using Offset = std::array<hsize_t, kMaxRank>;

struct Walker {
  const Lock& lock;
  File& file;
  hid_t dataset;
  const ArrayMeta& meta;

  // The record of one chunk; size 0 if it is not stored. The library looks up its index once: it remembers the last.
  ChunkTable::Entry ask(const Offset& offset) const {
    hsize_t size_bytes = 0;
    checked(lock, H5Dget_chunk_storage_size(dataset, offset.data(), &size_bytes),
            fmt::format("cannot look up a chunk of {}", meta.path));
    if (size_bytes == 0) return {};
    if (size_bytes > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(Code::unsupported, fmt::format("a chunk of {} is stored in {}, above the 4 GiB that can be handled",
                                                 meta.path, format_bytes(size_bytes)));
    }
    ChunkTable::Entry entry{ChunkTable::kUnreadable, static_cast<std::uint32_t>(size_bytes), 0};
    std::byte nowhere{};  // captured: nothing is read into it
    const RawCapture capture(lock, file, &nowhere);
    if (H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &entry.filter_mask, &nowhere) < 0) {
      static_cast<void>(library_error(lock, {}));  // the address passes the end of the file
      return entry;
    }
    CHUNKWISE_CHECK(capture.n_transfers() == 1 && capture.size_bytes() == size_bytes);
    entry.address = capture.address();
    return entry;
  }
};

}  // namespace

std::uint64_t storage_bytes(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const hsize_t size_bytes = H5Dget_storage_size(dataset);
  if (size_bytes == 0 && H5Eget_num(H5E_DEFAULT) > 0) {
    throw library_error(lock, fmt::format("cannot tell the stored size of {}", meta.path));
  }
  return size_bytes;
}

Index count_chunks(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const std::string what = fmt::format("cannot count the stored chunks of {}", meta.path);
  const Hid space = owned(lock, H5Dget_space(dataset), what);
  hsize_t n_chunks = 0;
  checked(lock, H5Dget_num_chunks(dataset, space.get(), &n_chunks), what);
  return static_cast<Index>(n_chunks);
}

ChunkTable::ChunkTable(const Lock& lock, File& file, hid_t dataset, const ArrayMeta& meta) {
  const ChunkGrid grid = meta.grid();
  const int rank = meta.shape.rank();
  const std::uint64_t all_bytes = storage_bytes(lock, dataset, meta);
  if (all_bytes == 0 || grid.n_chunks() == 0) return;
  const Walker walker{lock, file, dataset, meta};
  const auto add = [&](Index id, const Entry& entry) {
    if (entry.size_bytes == 0) return;
    entries_.push_back(entry);
    ids_.push_back(id);
    stored_bytes_ += entry.size_bytes;
  };

  const Index n_indexed = count_chunks(lock, dataset, meta);
  if (grid.n_chunks() / kSparseFactor > n_indexed && n_indexed <= kMaxStoredWalk) {
    const std::string what = fmt::format("cannot list the stored chunks of {}", meta.path);
    const Hid space = owned(lock, H5Dget_space(dataset), what);
    for (Index i = 0; i < n_indexed; ++i) {
      Offset offset{};
      checked(
          lock,
          H5Dget_chunk_info(dataset, space.get(), static_cast<hsize_t>(i), offset.data(), nullptr, nullptr, nullptr),
          what);
      Shape coords = Shape::filled(rank, 0);
      bool inside = true;
      for (int axis = 0; axis < rank; ++axis) {
        coords[axis] = static_cast<Index>(offset[static_cast<std::size_t>(axis)]) / meta.chunk[axis];
        inside = inside && coords[axis] >= 0 && coords[axis] < grid.counts()[axis];
      }
      if (inside) add(linear(grid.id(coords)), walker.ask(offset));
    }
    std::vector<std::size_t> order(ids_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return ids_[a] < ids_[b]; });
    std::vector<Entry> entries;
    std::vector<Index> ids;
    for (const std::size_t i : order) {
      if (!ids.empty() && ids.back() == ids_[i]) continue;  // a damaged index may list a chunk twice
      entries.push_back(entries_[i]);
      ids.push_back(ids_[i]);
    }
    entries_ = std::move(entries);
    ids_ = std::move(ids);
    return;
  }
  if (grid.n_chunks() > kMaxWalk) {
    throw Error(Code::unsupported, fmt::format("{} has a grid of {} chunks, {} of them stored: too many to look up",
                                               meta.path, format_count(grid.n_chunks()), format_count(n_indexed)));
  }

  const auto expected = static_cast<std::size_t>(std::clamp<Index>(n_indexed, 0, grid.n_chunks()));
  entries_.reserve(expected);
  ids_.reserve(expected);
  Offset offset{};
  // Row-major over the grid; once all stored bytes are accounted for, the rest is not stored.
  for (Index id = 0; id < grid.n_chunks() && stored_bytes_ < all_bytes; ++id) {
    add(id, walker.ask(offset));
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      offset[i] += static_cast<hsize_t>(meta.chunk[axis]);
      if (offset[i] < static_cast<hsize_t>(meta.shape[axis])) break;
      offset[i] = 0;
    }
  }
  if (n_stored() == grid.n_chunks()) std::vector<Index>().swap(ids_);
}

std::optional<ChunkTable::Entry> ChunkTable::find(ChunkId id) const {
  std::size_t at = 0;
  if (ids_.empty()) {
    if (entries_.empty()) return std::nullopt;
    at = static_cast<std::size_t>(linear(id));
  } else {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), linear(id));
    if (found == ids_.end() || *found != linear(id)) return std::nullopt;
    at = static_cast<std::size_t>(found - ids_.begin());
  }
  return entries_[at];
}

}  // namespace chunkwise::hdf5
