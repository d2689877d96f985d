#include "array/stored_chunks.h"

#include <charconv>
#include <limits>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "base/for_each_index.h"

namespace chunkwise {
namespace {

constexpr std::uint32_t kUntold = std::numeric_limits<std::uint32_t>::max();
/// Four bytes each.
constexpr Index kMostInTable = 4 << 20;
/// Folders are listed while the device waits, not the processor.
constexpr int kListingThreads = 8;

// "0", "17", but not "", "007" or "-1"; below `count`.
std::optional<Index> parse_index(std::string_view text, Index count) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool canonical = !text.empty() && text.front() != '-' && (text.size() == 1 || text.front() != '0');
  if (error != std::errc{} || end != text.data() + text.size() || !canonical || value >= count) return std::nullopt;
  return value;
}

// The chunk with this name: one index for each axis, separated by dots.
std::optional<Index> parse_dotted(std::string_view name, const Shape& counts) {
  Index id = 0;
  for (int axis = 0; axis < counts.rank(); ++axis) {
    const auto dot = axis + 1 < counts.rank() ? name.find('.') : name.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto index = parse_index(name.substr(0, dot), counts[axis]);
    if (!index) return std::nullopt;
    id = id * counts[axis] + *index;
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return id;
}

}  // namespace

class ChunkLister {
 public:
  ChunkLister(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid)
      : store_(store), keys_(keys), counts_(grid.counts()) {
    if (grid.n_chunks() <= kMostInTable) found_.sizes_.assign(static_cast<std::size_t>(grid.n_chunks()), 0);
  }

  StoredChunks list() {
    if (counts_.rank() == 0) {
      if (const auto size = store_.size_bytes(keys_.key(Shape()))) {
        found_.count_ = 1;
        found_.bytes_ = *size;
        set(0, *size);
      }
    } else if (keys_.separator == '.') {
      list_folder(keys_.prefix, [this](std::string_view name) -> std::optional<Index> {
        if (!keys_.marked) return parse_dotted(name, counts_);
        return name.substr(0, 2) == "c." ? parse_dotted(name.substr(2), counts_) : std::nullopt;
      });
    } else {
      list_nested();
    }
    return std::move(found_);
  }

 private:
  /// Folder by folder of an axis, each known by the number that its indices so far make.
  void list_nested() {
    std::vector<Index> folders{0};
    for (int axis = 0; axis + 1 < counts_.rank(); ++axis) {
      std::vector<Index> below;
      std::mutex mutex;
      for_each_index(kListingThreads, folders.size(), [&](std::size_t i, std::size_t) {
        std::vector<Index> some;
        store_.list_sizes(without_slash(prefix_of(folders[i], axis)), [&](const Store::SizedEntry& entry) {
          const auto index = parse_index(entry.name, counts_[axis]);
          if (!index) return;
          // What stands in the place of a folder hides chunks; they are not absent.
          if (!entry.is_prefix)
            throw Error(Code::corrupt, "no directory of chunks, as is due, but something else")
                .in(prefix_of(folders[i], axis) + std::string(entry.name));
          some.push_back(folders[i] * counts_[axis] + *index);
        });
        const std::lock_guard lock(mutex);
        below.insert(below.end(), some.begin(), some.end());
      });
      folders = std::move(below);
    }
    const int last = counts_.rank() - 1;
    for_each_index(kListingThreads, folders.size(), [&](std::size_t i, std::size_t) {
      list_folder(prefix_of(folders[i], last), [&](std::string_view name) -> std::optional<Index> {
        const auto index = parse_index(name, counts_[last]);
        return index ? std::optional(folders[i] * counts_[last] + *index) : std::nullopt;
      });
    });
  }

  /// Counts the chunks that lie directly in a folder. `id_of` may be called from several threads.
  template <typename IdOf>
  void list_folder(const std::string& prefix, const IdOf& id_of) {
    Index count = 0;
    std::uint64_t bytes = 0;
    store_.list_sizes(without_slash(prefix), [&](const Store::SizedEntry& entry) {
      const std::optional<Index> id = id_of(entry.name);
      if (!id) return;
      // A chunk that is a directory is no chunk that was never written.
      if (entry.is_prefix)
        throw Error(Code::corrupt, "a directory stands where a chunk is due").in(prefix + std::string(entry.name));
      ++count;
      bytes += entry.size_bytes;
      set(*id, entry.size_bytes);
    });
    const std::lock_guard lock(mutex_);
    found_.count_ += count;
    found_.bytes_ += bytes;
  }

  /// Names differ, so no two threads set the same chunk.
  void set(Index id, std::uint64_t size_bytes) {
    if (found_.sizes_.empty()) return;
    found_.sizes_[static_cast<std::size_t>(id)] =
        size_bytes < kUntold - 1 ? static_cast<std::uint32_t>(size_bytes + 1) : kUntold;
  }

  /// "a/c/3/1/" for the folder that holds the indices of `axis`.
  std::string prefix_of(Index folder, int axis) const {
    Shape at = Shape::filled(axis, 0);
    for (int i = axis - 1; i >= 0; --i) {
      at[i] = folder % counts_[i];
      folder /= counts_[i];
    }
    std::string prefix = keys_.prefix + (keys_.marked ? "c/" : "");
    for (int i = 0; i < axis; ++i) prefix += std::to_string(at[i]) + '/';
    return prefix;
  }

  static std::string_view without_slash(std::string_view prefix) {
    if (!prefix.empty()) prefix.remove_suffix(1);
    return prefix;
  }

  const Store& store_;
  const ChunkKeys& keys_;
  const Shape& counts_;
  std::mutex mutex_;
  StoredChunks found_;
};

std::optional<StoredChunks::Size> StoredChunks::size_of(ChunkId id) const {
  const auto at = static_cast<std::size_t>(linear(id));
  if (at >= sizes_.size() || sizes_[at] == kUntold) return std::nullopt;
  if (sizes_[at] == 0) return Size{true, 0};
  return Size{false, sizes_[at] - 1};
}

StoredChunks list_chunks(const Store& store, const ChunkKeys& keys, const ChunkGrid& grid) {
  if (grid.n_chunks() == 0) return {};
  return ChunkLister(store, keys, grid).list();
}

const StoredChunks& LateListing::get() const {
  const std::lock_guard lock(mutex_);
  if (!chunks_) {
    chunks_ = list_chunks(*store_, keys_, grid_);
    made_.store(&*chunks_, std::memory_order_release);
  }
  return *chunks_;
}

}  // namespace chunkwise
