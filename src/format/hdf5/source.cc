#include "format/hdf5/source.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/checked.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "format/hdf5/chunk_table.h"
#include "format/hdf5/first_look.h"
#include "format/hdf5/linear_layout.h"
#include "store/gather.h"

namespace chunkwise::hdf5 {
namespace {

std::string name_of(ChunkId id, const ArrayMeta& meta) {
  return fmt::format("chunk {} of {}", linear(id), meta.path);
}

void check_id(ChunkId id, const ChunkGrid& grid) {
  CHUNKWISE_CHECK(linear(id) >= 0 && linear(id) < grid.n_chunks());
}

void check_in_file(const StoredAt& at, std::uint64_t file_bytes, ChunkId id, const ArrayMeta& meta) {
  if (at.offset_bytes <= file_bytes && at.length_bytes <= file_bytes - at.offset_bytes) return;
  throw Error(Code::corrupt, fmt::format("{} lies beyond the end of the file (truncated?)", name_of(id, meta)),
              "copy or download the file again");
}

// Sources whose chunks are ranges of the file.
class RangeSource : public ArraySource {
 public:
  void read(std::span<const ChunkId> ids, ReadBatch& batch) const final {
    batch.chunks.assign(ids.size(), EncodedChunk{{}, 0, true});
    batch.blocks.resize(1);  // the block of the last batch serves again
    std::vector<ByteRange> ranges;
    ranges.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const ChunkRef ref = locate(ids[i]);
      const auto* at = std::get_if<StoredAt>(&ref);
      if (at == nullptr) continue;
      batch.chunks[i] = {{}, at->skipped_codecs, false};
      ranges.push_back({at->offset_bytes, at->length_bytes, i});
    }
    try {
      const std::vector<ByteView> views = gather(file_->object(), ranges, batch.blocks.front());
      for (std::size_t i = 0; i < ranges.size(); ++i) batch.chunks[ranges[i].slot].bytes = views[i];
    } catch (Error& error) {
      const std::string from = ids.size() == 1
                                   ? name_of(ids.front(), meta_)
                                   : fmt::format("{} chunks of {}", format_count(std::ssize(ids)), meta_.path);
      throw error.in(from).in(file_->path());
    }
  }

 protected:
  RangeSource(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta)
      : ArraySource(std::move(meta)),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        file_bytes_(file_->size_bytes()) {}

  const std::shared_ptr<File> file_;
  const Hid dataset_;  // dies before the file
  const std::uint64_t file_bytes_;
};

class ChunkedSource final : public RangeSource {
 public:
  ChunkedSource(const Lock& lock, std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, Locate where)
      : RangeSource(std::move(file), std::move(dataset), std::move(meta)),
        table_(where == Locate::here ? ChunkTable(lock, *file_, dataset_.get(), meta_)
                                     : locate_in_child(lock, *file_, dataset_.get(), meta_)),
        chunk_bytes_(meta_.chunk_bytes()) {
    if (meta_.codecs.size() > 32) {
      throw Error(Code::unsupported, fmt::format("{} has more than 32 filters", meta_.path));
    }
    all_codecs_ = meta_.codecs.size() == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << meta_.codecs.size()) - 1;
    try {
      max_stored_bytes_ = CodecChain(meta_.codecs, meta_.dtype.bytes).max_stored_bytes(chunk_bytes_);
    } catch (const Error& error) {
      // A filter nobody here can run has no bound; its chunks may still be copied encoded.
      if (error.code() != Code::unsupported) throw;
    }
    meta_.stored_bytes = table_.stored_bytes();
    meta_.n_stored_chunks = table_.n_stored();
  }

  ChunkRef locate(ChunkId id) const override {
    check_id(id, grid_);
    const auto entry = table_.find(id);
    if (!entry) return Absent{};
    StoredAt at{entry->address, entry->size_bytes, entry->filter_mask & all_codecs_};
    // The mask of such a chunk says nothing.
    if (meta_.raw_edges && grid_.overhangs(id)) at.skipped_codecs = all_codecs_;
    check_in_file(at, file_bytes_, id, meta_);
    const bool raw = at.skipped_codecs == all_codecs_;
    if (raw ? at.length_bytes != chunk_bytes_ : at.length_bytes > max_stored_bytes_) {
      throw Error(Code::corrupt,
                  fmt::format("{} is stored in {} bytes, where {} {} are possible", name_of(id, meta_), at.length_bytes,
                              raw ? "only" : "at most", raw ? chunk_bytes_ : max_stored_bytes_));
    }
    return at;
  }

 private:
  const ChunkTable table_;
  const std::size_t chunk_bytes_;
  std::uint32_t all_codecs_ = 0;
  std::size_t max_stored_bytes_ = std::numeric_limits<std::size_t>::max();
};

// Bytes stored for a contiguous or compact array, which must be enough.
std::uint64_t check_storage(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const std::uint64_t stored_bytes = storage_bytes(lock, dataset, meta);
  const std::uint64_t due_bytes = linear_bytes(meta);
  if (stored_bytes >= due_bytes) return stored_bytes;
  throw Error(Code::corrupt, fmt::format("{} has {} bytes stored, but needs {}", meta.path, stored_bytes, due_bytes));
}

class ContiguousSource final : public RangeSource {
 public:
  ContiguousSource(const Lock& lock, std::shared_ptr<File> file, Hid dataset, ArrayMeta meta)
      : RangeSource(std::move(file), std::move(dataset), std::move(meta)) {
    address_ = contiguous_address(lock, dataset_.get(), meta_);
    if (!address_) return;
    meta_.stored_bytes = check_storage(lock, dataset_.get(), meta_);
    meta_.n_stored_chunks = grid_.n_chunks();
  }

  ChunkRef locate(ChunkId id) const override {
    check_id(id, grid_);
    if (!address_) return Absent{};
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    const auto begin = checked_add(*address_, range.offset_bytes);
    const StoredAt at{begin.value_or(std::numeric_limits<std::uint64_t>::max()), range.size_bytes, 0};
    check_in_file(at, file_bytes_, id, meta_);
    return at;
  }

 private:
  std::optional<std::uint64_t> address_;
};

// In the object header: at most 64 KiB, so it is read at opening.
class CompactSource final : public ArraySource {
 public:
  CompactSource(const Lock& lock, std::shared_ptr<File> file, const Hid& dataset, ArrayMeta meta)
      : ArraySource(std::move(meta)), file_(std::move(file)) {
    const Hid type = plain_type(lock, dataset.get(), meta_);
    const std::uint64_t size_bytes = linear_bytes(meta_);
    // The library copies without a look at how much is there.
    if (check_storage(lock, dataset.get(), meta_) > kMaxCompactBytes || size_bytes > kMaxCompactBytes) {
      throw Error(Code::corrupt, fmt::format("{} is compact, but has {} bytes", meta_.path, size_bytes));
    }
    data_.resize(static_cast<std::size_t>(size_bytes));
    if (size_bytes > 0) {
      checked(lock, H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data_.data()),
              fmt::format("cannot read {}", meta_.path));
    }
    meta_.stored_bytes = size_bytes;
    meta_.n_stored_chunks = size_bytes == 0 ? 0 : grid_.n_chunks();
  }

  ChunkRef locate(ChunkId id) const override {
    check_id(id, grid_);
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    return StoredAt{range.offset_bytes, range.size_bytes, 0};
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    batch.blocks.clear();
    batch.blocks.push_back(Bytes::copy_of(data_));
    for (const ChunkId id : ids) {
      check_id(id, grid_);
      const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
      const ByteView all = batch.blocks.front().view();
      batch.chunks.push_back({all.subspan(range.offset_bytes, range.size_bytes), 0, false});
    }
  }

 private:
  static constexpr std::uint64_t kMaxCompactBytes = 64U << 10U;
  const std::shared_ptr<File> file_;
  Bytes data_;
};

void refuse_foreign_storage(const Lock& lock, hid_t dataset, const ArrayMeta& meta) {
  const std::string what = fmt::format("cannot read the creation properties of {}", meta.path);
  const Hid dcpl = owned(lock, H5Dget_create_plist(dataset), what);
  if (checked(lock, H5Pget_layout(dcpl.get()), what) == H5D_VIRTUAL) {
    throw Error(Code::unsupported, fmt::format("{} is a virtual dataset: its data lie in other datasets", meta.path));
  }
  if (checked(lock, H5Pget_external_count(dcpl.get()), what) > 0) {
    throw Error(Code::unsupported, fmt::format("{} keeps its data in external files", meta.path));
  }
}

}  // namespace

std::unique_ptr<ArraySource> make_source(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, Locate where) {
  const Lock lock;
  const std::string path = file->path();
  try {
    refuse_foreign_storage(lock, dataset.get(), meta);
    plain_type(lock, dataset.get(), meta);
    switch (meta.storage) {
      case Storage::chunked:
        CHUNKWISE_CHECK(meta.pads_edges);
        return std::make_unique<ChunkedSource>(lock, std::move(file), std::move(dataset), std::move(meta), where);
      case Storage::contiguous:
        check_linear(meta);
        return std::make_unique<ContiguousSource>(lock, std::move(file), std::move(dataset), std::move(meta));
      case Storage::compact:
        check_linear(meta);
        return std::make_unique<CompactSource>(lock, std::move(file), dataset, std::move(meta));
      case Storage::virtual_:
        break;
    }
  } catch (Error& error) {
    throw error.in(path);
  }
  throw Error(Code::internal, "unknown kind of storage");
}

void count_stored(const Lock& lock, hid_t dataset, ArrayMeta& meta) {
  const ChunkGrid grid = meta.grid();
  meta.stored_bytes = 0;
  meta.n_stored_chunks = 0;
  // The library cannot tell the size of a virtual dataset.
  if (meta.storage == Storage::virtual_) {
    meta.stored_bytes = linear_bytes(meta);
    meta.n_stored_chunks = grid.n_chunks();
    return;
  }
  meta.stored_bytes = storage_bytes(lock, dataset, meta);
  if (meta.stored_bytes == 0) return;
  if (meta.storage != Storage::chunked) {
    meta.n_stored_chunks = grid.n_chunks();
  } else if (meta.codecs.empty() && meta.chunk_bytes() > 0) {
    meta.n_stored_chunks = static_cast<Index>(meta.stored_bytes / meta.chunk_bytes());
  } else {
    meta.n_stored_chunks = count_chunks(lock, dataset, meta);
  }
}

}  // namespace chunkwise::hdf5
