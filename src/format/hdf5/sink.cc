#include "format/hdf5/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <vector>

#include "base/sizes.h"
#include "format/hdf5/linear_layout.h"

namespace chunkwise::hdf5 {
namespace {

std::string name_of(ChunkId id, const ArrayMeta& meta) {
  return fmt::format("chunk {} of {}", linear(id), meta.path);
}

void check_id(ChunkId id, const ChunkGrid& grid) {
  CHUNKWISE_CHECK(linear(id) >= 0 && linear(id) < grid.n_chunks());
}

void check_size(std::uint64_t got, std::uint64_t due, ChunkId id, const ArrayMeta& meta) {
  if (got == due) return;
  throw Error(Code::corrupt, fmt::format("{} without codecs has {} bytes, but needs {}", name_of(id, meta), got, due));
}

// Refuses work that cannot go on because the library would now put data elsewhere.
void check_place(std::uint64_t address, const Allocation& earlier, const std::string& what) {
  if (address == earlier.address) return;
  throw Error(Code::unsupported,
              fmt::format("{} would now lie at {} of the file, not at {} as before", what, address, earlier.address),
              "the unfinished target cannot be continued: remove it, and begin anew");
}

void check_journalled_id(const Allocation& earlier, const ArrayMeta& meta, const ChunkGrid& grid) {
  if (linear(earlier.chunk) < 0 || linear(earlier.chunk) >= grid.n_chunks())
    throw Error(Code::corrupt, fmt::format("{} has no chunk {}", meta.path, linear(earlier.chunk)));
}

class ChunkedSink final : public Hdf5Sink {
 public:
  ChunkedSink(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, std::uint32_t number)
      : Hdf5Sink(std::move(meta)),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        number_(number),
        chunk_bytes_(meta_.chunk_bytes()) {
    if (meta_.codecs.size() > 32) {
      throw Error(Code::unsupported, fmt::format("{} has more than 32 filters", meta_.path));
    }
    all_codecs_ = meta_.codecs.size() == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << meta_.codecs.size()) - 1;
  }

  bool keeps_skipped_codecs() const override { return true; }

  void write(ChunkId id, const EncodedChunk& chunk) override {
    check_id(id, grid_);
    if (chunk.absent) return;
    const Box box = grid_.full_box(id);
    std::uint32_t filter_mask = chunk.skipped_codecs & all_codecs_;
    const bool raw = filter_mask == all_codecs_;
    if (meta_.raw_edges && grid_.overhangs(id)) {
      CHUNKWISE_CHECK(raw);
      filter_mask = 0;  // as the library writes it: the property, not the mask, says that such chunks are raw
    }
    // The library would take any size.
    if (raw) check_size(chunk.bytes.size(), chunk_bytes_, id, meta_);
    if (chunk.bytes.empty()) throw Error(Code::corrupt, fmt::format("{} is empty", name_of(id, meta_)));
    if (chunk.bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(
          Code::unsupported,
          fmt::format("{} takes {}: HDF5 stores less than 4 GiB", name_of(id, meta_), format_bytes(chunk.bytes.size())),
          "choose smaller chunks");
    }
    file_->write_at(allocate(box.origin, filter_mask, chunk.bytes.data(), chunk.bytes.size(), id), chunk.bytes);
  }

  void place_again(const Allocation& earlier) override {
    check_journalled_id(earlier, meta_, grid_);
    // The bytes are in the file already; the library only needs a pointer to hand on.
    static constexpr std::byte kStandIn{};
    const Shape origin = grid_.full_box(earlier.chunk).origin;
    check_place(allocate(origin, earlier.filter_mask, &kStandIn, earlier.size_bytes, earlier.chunk), earlier,
                name_of(earlier.chunk, meta_));
  }

 private:
  // Lets the library give the chunk its place and enter it into its index. It passes our pointer on to the driver and
  // does not look at the bytes.
  std::uint64_t allocate(const Shape& origin, std::uint32_t filter_mask, const std::byte* bytes,
                         std::uint64_t size_bytes, ChunkId id) {
    std::array<hsize_t, kMaxRank> offset{};
    for (int axis = 0; axis < origin.rank(); ++axis) {
      offset[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(origin[axis]);
    }
    const Lock lock;
    const RawCapture capture(lock, *file_, bytes);
    const herr_t result = H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, filter_mask, offset.data(), size_bytes, bytes);
    if (result < 0) throw library_error(lock, fmt::format("cannot store {}", name_of(id, meta_))).in(file_->path());
    CHUNKWISE_CHECK(capture.n_transfers() == 1 && capture.size_bytes() == size_bytes);
    file_->note(lock, {number_, id, size_bytes, filter_mask, capture.address()});
    return capture.address();
  }

  const std::shared_ptr<File> file_;
  const Hid dataset_;
  const std::uint32_t number_;
  const std::size_t chunk_bytes_;
  std::uint32_t all_codecs_ = 0;
};

class ContiguousSink final : public Hdf5Sink {
 public:
  ContiguousSink(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, std::uint32_t number)
      : Hdf5Sink(std::move(meta)), file_(std::move(file)), dataset_(std::move(dataset)), number_(number) {}

  void write(ChunkId id, const EncodedChunk& chunk) override {
    check_id(id, grid_);
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    if (range.size_bytes == 0) return;
    if (chunk.absent) {
      write_fill(range);
      return;
    }
    check_size(chunk.bytes.size(), range.size_bytes, id, meta_);
    file_->write_at(allocate() + range.offset_bytes, chunk.bytes);
  }

  void place_again(const Allocation& earlier) override { check_place(allocate(), earlier, meta_.path); }

 private:
  // The address of the dataset's first byte; makes the library allocate it if need be. The library would then write the
  // fill value over all of it, so that raw transfers are only noted: all of it is about to be written anyway. Flushed
  // first, so that no heap data can be among the transfers dropped.
  std::uint64_t allocate() {
    if (const std::uint64_t known = address_; known != HADDR_UNDEF) return known;
    const Lock lock;
    if (const std::uint64_t known = address_; known != HADDR_UNDEF) return known;
    const std::string what = fmt::format("cannot allocate {}", meta_.path);
    auto address = contiguous_address(lock, dataset_.get(), meta_);
    if (!address) {
      checked(lock, H5Fflush(file_->id(), H5F_SCOPE_LOCAL), what);
      const Hid type = plain_type(lock, dataset_.get(), meta_);
      const Hid one = owned(lock, H5Dget_space(dataset_.get()), what);
      const std::array<hsize_t, kMaxRank> start{};
      std::array<hsize_t, kMaxRank> count{};
      count.fill(1);
      if (meta_.shape.rank() > 0) {
        checked(lock, H5Sselect_hyperslab(one.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
                what);
      }
      const Hid memory = owned(lock, H5Screate(H5S_SCALAR), what);
      const std::vector<std::byte> element(meta_.dtype.bytes);
      const RawCapture capture(lock, *file_, nullptr);
      checked(lock, H5Dwrite(dataset_.get(), type.get(), memory.get(), one.get(), H5P_DEFAULT, element.data()), what);
      address = contiguous_address(lock, dataset_.get(), meta_);
      if (!address) throw Error(Code::internal, what);
    }
    file_->note(lock, {number_, ChunkId{0}, linear_bytes(meta_), 0, *address});
    address_ = *address;
    return *address;
  }

  void write_fill(LinearRange rest) {
    constexpr std::uint64_t kPieceBytes = 256U << 10U;
    const std::uint64_t element_bytes = meta_.dtype.bytes;
    Bytes piece(std::min(rest.size_bytes, std::max<std::uint64_t>(1, kPieceBytes / element_bytes) * element_bytes));
    fill_elements(piece.span(), meta_.fill);
    while (rest.size_bytes > 0) {
      const std::uint64_t n_bytes = std::min<std::uint64_t>(rest.size_bytes, piece.size());
      file_->write_at(allocate() + rest.offset_bytes, piece.view().first(n_bytes));
      rest.offset_bytes += n_bytes;
      rest.size_bytes -= n_bytes;
    }
  }

  const std::shared_ptr<File> file_;
  const Hid dataset_;
  const std::uint32_t number_;
  std::atomic<std::uint64_t> address_{HADDR_UNDEF};
};

class CompactSink final : public Hdf5Sink {
 public:
  CompactSink(const Lock& lock, std::shared_ptr<File> file, Hid dataset, ArrayMeta meta)
      : Hdf5Sink(std::move(meta)),
        file_(std::move(file)),
        dataset_(std::move(dataset)),
        type_(plain_type(lock, dataset_.get(), meta_)) {}

  void write(ChunkId id, const EncodedChunk& chunk) override {
    check_id(id, grid_);
    if (chunk.absent) return;
    check_size(chunk.bytes.size(), linear_range(grid_, id, meta_.dtype.bytes).size_bytes, id, meta_);
    if (chunk.bytes.empty()) return;
    const Box box = grid_.box(id);
    std::array<hsize_t, kMaxRank> start{};
    std::array<hsize_t, kMaxRank> count{};
    for (int axis = 0; axis < box.shape.rank(); ++axis) {
      start[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(box.origin[axis]);
      count[static_cast<std::size_t>(axis)] = static_cast<hsize_t>(box.shape[axis]);
    }
    const Lock lock;
    const std::string what = fmt::format("cannot store {}", name_of(id, meta_));
    const Hid in_file = owned(lock, H5Dget_space(dataset_.get()), what);
    Hid in_memory = owned(lock, H5Screate(H5S_SCALAR), what);
    if (const int rank = box.shape.rank(); rank > 0) {
      checked(lock, H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
              what);
      in_memory = owned(lock, H5Screate_simple(rank, count.data(), nullptr), what);
    }
    checked(lock,
            H5Dwrite(dataset_.get(), type_.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, chunk.bytes.data()),
            what);
  }

  void place_again(const Allocation&) override {
    throw Error(Code::corrupt, fmt::format("{} has no place of its own in the file", meta_.path));
  }

 private:
  const std::shared_ptr<File> file_;
  const Hid dataset_;
  const Hid type_;
};

}  // namespace

std::unique_ptr<Hdf5Sink> make_sink(std::shared_ptr<File> file, Hid dataset, ArrayMeta meta, std::uint32_t number) {
  const Lock lock;
  switch (meta.storage) {
    case Storage::chunked:
      CHUNKWISE_CHECK(meta.pads_edges);
      plain_type(lock, dataset.get(), meta);
      return std::make_unique<ChunkedSink>(std::move(file), std::move(dataset), std::move(meta), number);
    case Storage::contiguous:
      check_linear(meta);
      plain_type(lock, dataset.get(), meta);
      return std::make_unique<ContiguousSink>(std::move(file), std::move(dataset), std::move(meta), number);
    case Storage::compact:
      check_linear(meta);
      return std::make_unique<CompactSink>(lock, std::move(file), std::move(dataset), std::move(meta));
    case Storage::virtual_:
      break;
  }
  throw Error(Code::internal, "unknown kind of storage");
}

}  // namespace chunkwise::hdf5
