#include "format/hdf5/chunk_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/sizes.h"

namespace chunkwise::hdf5 {
namespace {

// A look-up of a chunk that is not stored fails, and making up the error takes its time.
constexpr double kFoundSeconds = 1e-6;
constexpr double kNotStoredSeconds = 3e-6;
constexpr double kMaxSeconds = 1800;

double walking_seconds(Index n_stored, Index n_chunks) {
  return static_cast<double>(n_stored) * kFoundSeconds +
         static_cast<double>(std::max<Index>(n_chunks - n_stored, 0)) * kNotStoredSeconds;
}

using Offset = std::array<hsize_t, kMaxRank>;

/// Collects the numbers of stored chunks as the library lists them. A damaged index may list chunks outside the grid,
/// or one twice.
class Listing {
 public:
  explicit Listing(const ArrayMeta& meta) : chunk_(meta.chunk), grid_(meta.grid()) {}
  void add(const hsize_t* offset) {
    Shape coords = Shape::filled(chunk_.rank(), 0);
    for (int axis = 0; axis < chunk_.rank(); ++axis) {
      coords[axis] = static_cast<Index>(offset[axis]) / chunk_[axis];
      if (coords[axis] < 0 || coords[axis] >= grid_.counts()[axis]) return;
    }
    ids_.push_back(linear(grid_.id(coords)));
  }
  /// Ascending, each once.
  std::vector<Index> take() {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    return std::move(ids_);
  }

 private:
  Shape chunk_;
  ChunkGrid grid_;
  std::vector<Index> ids_;
};

#if H5_VERSION_GE(1, 14, 0)

/// One pass over the index.
double listing_seconds(Index n_stored) {
  constexpr double kChunkSeconds = 0.4e-6;
  return static_cast<double>(n_stored) * (kChunkSeconds + kFoundSeconds);
}

int add_listed(const hsize_t* offset, unsigned, haddr_t, hsize_t, void* listing) noexcept {
  try {
    static_cast<Listing*>(listing)->add(offset);
    return H5_ITER_CONT;
  } catch (...) {
    return H5_ITER_ERROR;
  }
}

void list_chunks(const Lock& lock, hid_t dataset, Index, const std::string& what, Listing& listing) {
  checked(lock, H5Dchunk_iter(dataset, H5P_DEFAULT, add_listed, &listing), what);
}

#else

/// Asking for the i-th stored chunk walks the index up to it. Measured with 1.10.8.
double listing_seconds(Index n_stored) {
  constexpr double kStepSeconds = 30e-9;
  const auto n = static_cast<double>(n_stored);
  return n * (n * kStepSeconds + kFoundSeconds);
}

void list_chunks(const Lock& lock, hid_t dataset, Index n_stored, const std::string& what, Listing& listing) {
  const Hid space = owned(lock, H5Dget_space(dataset), what);
  for (Index i = 0; i < n_stored; ++i) {
    Offset offset{};
    checked(lock,
            H5Dget_chunk_info(dataset, space.get(), static_cast<hsize_t>(i), offset.data(), nullptr, nullptr, nullptr),
            what);
    listing.add(offset.data());
  }
}

#endif

struct Walker {
  const Lock& lock;
  File& file;
  hid_t dataset;
  const ArrayMeta& meta;

  // The record of one chunk; size 0 if it is not stored. The library looks up its index once: it remembers the last.
  ChunkTable::Entry ask(const Offset& offset) const {
    hsize_t decoded_or_stored_bytes = 0;  // without filters the library answers what should be there
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &decoded_or_stored_bytes) < 0) {
      if (is_not_stored()) return {};
      throw library_error(lock, fmt::format("cannot look up a chunk of {}", meta.path));
    }
    if (decoded_or_stored_bytes == 0) return {};
    ChunkTable::Entry entry{ChunkTable::kUnreadable, 1, 0};
    std::byte nowhere{};  // captured: nothing is read into it
    const RawCapture capture(lock, file, &nowhere);
    if (H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &entry.filter_mask, &nowhere) < 0) {
      static_cast<void>(library_error(lock, {}));  // the address passes the end of the file
      return entry;
    }
    if (capture.n_transfers() != 1) return entry;  // damaged: it read nothing, or elsewhere
    if (capture.size_bytes() > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(Code::unsupported, fmt::format("a chunk of {} is stored in {}, above the 4 GiB that can be handled",
                                                 meta.path, format_bytes(capture.size_bytes())));
    }
    entry.address = capture.address();
    entry.size_bytes = static_cast<std::uint32_t>(capture.size_bytes());
    return entry;
  }

  // Versions of the library differ: some answer size 0, others, as soon as one chunk is stored, fail in the very
  // function behind the call. An index that cannot be read fails deeper.
  static bool is_not_stored() {
    struct Reason {
      hid_t major = H5I_INVALID_HID;
      hid_t minor = H5I_INVALID_HID;
      unsigned depth = 0;
    } reason;
    const auto look = [](unsigned n, const H5E_error2_t* entry, void* out) -> herr_t {
      auto& found = *static_cast<Reason*>(out);
      if (n == 0) {
        found.major = entry->maj_num;
        found.minor = entry->min_num;
      }
      found.depth = n + 1;
      return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &reason);
    return reason.depth == 2 && reason.major == H5E_DATASET && reason.minor == H5E_CANTGET;
  }
};

// An extensible-array index keeps the axis that may grow in front, and the library lists its chunks with coordinates in
// that order, not the array's. Looking a chunk up is right. Which index a dataset has it does not tell, so that every
// dataset with one growing axis that is not the first is looked up.
bool lists_true_coordinates(const ArrayMeta& meta) {
  const auto n_growing = std::count(meta.max_shape.begin(), meta.max_shape.end(), kUnlimited);
  return n_growing != 1 || meta.max_shape[0] == kUnlimited;
}

}  // namespace

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
  const Walker walker{lock, file, dataset, meta};
  const auto add = [&](Index id, const Entry& entry) {
    if (entry.size_bytes == 0) return;
    entries_.push_back(entry);
    ids_.push_back(id);
    stored_bytes_ += entry.size_bytes;
  };

  const Index n_indexed = count_chunks(lock, dataset, meta);
  if (n_indexed == 0) return;
  const bool may_list = lists_true_coordinates(meta);
  const double walk_seconds = walking_seconds(n_indexed, grid.n_chunks());
  const double list_seconds = listing_seconds(n_indexed);
  if (walk_seconds > kMaxSeconds && (list_seconds > kMaxSeconds || !may_list)) {
    throw Error(Code::unsupported, fmt::format("{} has a grid of {} chunks, {} of them stored: too many to look up",
                                               meta.path, format_count(grid.n_chunks()), format_count(n_indexed)));
  }
  if (may_list && list_seconds < walk_seconds) {
    Listing listing(meta);
    list_chunks(lock, dataset, n_indexed, fmt::format("cannot list the stored chunks of {}", meta.path), listing);
    for (const Index id : listing.take()) {
      const Shape origin = grid.full_box(ChunkId{id}).origin;
      Offset offset{};
      std::copy(origin.begin(), origin.end(), offset.begin());
      add(id, walker.ask(offset));
    }
    check_count(n_indexed, meta);
    return;
  }
  const auto expected = static_cast<std::size_t>(std::clamp<Index>(n_indexed, 0, grid.n_chunks()));
  entries_.reserve(expected);
  ids_.reserve(expected);
  Offset offset{};
  // Row-major over the grid; once all stored chunks are found, the rest is not stored.
  for (Index id = 0; id < grid.n_chunks() && n_stored() < n_indexed; ++id) {
    add(id, walker.ask(offset));
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      offset[i] += static_cast<hsize_t>(meta.chunk[axis]);
      if (offset[i] < static_cast<hsize_t>(meta.shape[axis])) break;
      offset[i] = 0;
    }
  }
  check_count(n_indexed, meta);
  if (n_stored() == grid.n_chunks()) std::vector<Index>().swap(ids_);
}

double ChunkTable::expected_seconds(Index n_stored, Index n_chunks) {
  return std::min(walking_seconds(n_stored, n_chunks), listing_seconds(n_stored));
}

std::string ChunkTable::to_bytes() const {
  const std::array<std::uint64_t, 3> head = {entries_.size(), ids_.size(), stored_bytes_};
  std::string bytes(sizeof head + entries_.size() * sizeof(Entry) + ids_.size() * sizeof(Index), '\0');
  char* at = bytes.data();
  const auto put = [&at](const void* data, std::size_t size) {
    if (size > 0) std::memcpy(at, data, size);
    at += size;
  };
  put(head.data(), sizeof head);
  put(entries_.data(), entries_.size() * sizeof(Entry));
  put(ids_.data(), ids_.size() * sizeof(Index));
  return bytes;
}

ChunkTable ChunkTable::from_bytes(std::string_view bytes) {
  const auto take = [&bytes](void* data, std::size_t size) {
    CHUNKWISE_CHECK(size <= bytes.size());
    if (size > 0) std::memcpy(data, bytes.data(), size);
    bytes.remove_prefix(size);
  };
  std::array<std::uint64_t, 3> head{};
  take(head.data(), sizeof head);
  ChunkTable table;
  table.entries_.resize(static_cast<std::size_t>(head[0]));
  table.ids_.resize(static_cast<std::size_t>(head[1]));
  table.stored_bytes_ = head[2];
  take(table.entries_.data(), table.entries_.size() * sizeof(Entry));
  take(table.ids_.data(), table.ids_.size() * sizeof(Index));
  return table;
}

// A chunk overlooked would read as fill: rather refuse.
void ChunkTable::check_count(Index n_indexed, const ArrayMeta& meta) const {
  if (n_stored() == n_indexed) return;
  throw Error(Code::corrupt, fmt::format("the index of {} counts {} chunks, but {} can be found inside the array",
                                         meta.path, format_count(n_indexed), format_count(n_stored())));
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
