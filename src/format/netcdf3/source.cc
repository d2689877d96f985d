// A record variable is one run of elements like any contiguous array; only its bytes lie in slabs, with the records of
// the other variables between them. So it can be cut anywhere, and its source puts the runs together.
#include "format/netcdf3/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "array/linear.h"
#include "base/error.h"
#include "base/sizes.h"

namespace chunkwise::netcdf3 {
namespace {

/// Reading on over a gap is cheaper than a second request while the gap is no more than a page, or little beside what
/// is wanted.
constexpr std::uint64_t kPage_bytes = 4096;
constexpr std::uint64_t kLongestGap_bytes = 64u << 10;
constexpr std::uint64_t kGapShare = 8;
/// Slabs are read together with their gaps through a window of this size.
constexpr std::uint64_t kWindow_bytes = 256u << 10;

class VariableSource final : public ArraySource {
 public:
  VariableSource(std::shared_ptr<const Object> file, std::string path, ArrayMeta meta, const Place& place)
      : ArraySource(std::move(meta)), file_(std::move(file)), path_(std::move(path)), place_(place) {
    check_linear(meta_);
    const std::uint64_t gap_bytes = place_.stride_bytes - place_.slab_bytes;
    reads_gaps_ = gap_bytes <= std::max(kPage_bytes, std::min(place_.slab_bytes / kGapShare, kLongestGap_bytes)) &&
                  2 * place_.stride_bytes <= kWindow_bytes;
    check_is_all_there();
  }

  ChunkRef locate(ChunkId id) const override {
    const LinearRange range = linear_range(grid_, id, meta_.dtype.bytes);
    std::uint64_t address = place_.begin_bytes;
    for_each_piece(place_, range.offset_bytes, std::min<std::uint64_t>(range.size_bytes, 1),
                   [&](std::uint64_t at, std::uint64_t, std::uint64_t) { address = at; });
    return StoredAt{address, range.size_bytes, 0};
  }

  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.assign(ids.size(), EncodedChunk{});
    batch.blocks.resize(1);  // the block of the last batch serves again
    std::vector<LinearRange> ranges;
    std::vector<std::size_t> order;
    std::uint64_t block_bytes = 0;
    for (const ChunkId id : ids) {
      order.push_back(ranges.size());
      ranges.push_back(linear_range(grid_, id, meta_.dtype.bytes));
      block_bytes += ranges.back().size_bytes;
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return ranges[a].offset_bytes < ranges[b].offset_bytes; });
    Bytes& block = batch.blocks.front();
    block.resize_discard(static_cast<std::size_t>(block_bytes));
    std::size_t at = 0;
    LinearRange run;
    const auto flush = [&] {
      read_run(run, block.span().subspan(at - static_cast<std::size_t>(run.size_bytes), run.size_bytes));
    };
    for (const std::size_t i : order) {
      const LinearRange& range = ranges[i];
      if (run.offset_bytes + run.size_bytes != range.offset_bytes) {
        flush();
        run = {range.offset_bytes, 0};
      }
      batch.chunks[i].bytes = block.view().subspan(at, static_cast<std::size_t>(range.size_bytes));
      run.size_bytes += range.size_bytes;
      at += static_cast<std::size_t>(range.size_bytes);
    }
    flush();
  }

 private:
  void read_run(const LinearRange& run, MutableByteView out) const {
    try {
      if (reads_gaps_ && run.size_bytes > place_.slab_bytes) return read_with_gaps(run, out);
      for_each_piece(place_, run.offset_bytes, run.size_bytes,
                     [&](std::uint64_t address, std::uint64_t offset, std::uint64_t n_bytes) {
                       file_->read(address, out.subspan(offset, n_bytes));
                     });
    } catch (Error& error) {
      throw error.in(meta_.path).in(path_);
    }
  }

  void read_with_gaps(const LinearRange& run, MutableByteView out) const {
    struct Piece {
      std::uint64_t address = 0;
      std::uint64_t offset = 0;
      std::uint64_t n_bytes = 0;
    };
    std::vector<Piece> pieces;  // of one window
    Bytes window;
    const auto flush = [&] {
      if (pieces.empty()) return;
      const std::uint64_t begin = pieces.front().address;
      window.resize_discard(static_cast<std::size_t>(pieces.back().address + pieces.back().n_bytes - begin));
      file_->read(begin, window.span());
      for (const Piece& piece : pieces)
        std::copy_n(window.data() + (piece.address - begin), piece.n_bytes, out.data() + piece.offset);
      pieces.clear();
    };
    for_each_piece(place_, run.offset_bytes, run.size_bytes,
                   [&](std::uint64_t address, std::uint64_t offset, std::uint64_t n_bytes) {
                     // A dense run is one piece, however long.
                     if (n_bytes > kWindow_bytes) return file_->read(address, out.subspan(offset, n_bytes));
                     if (!pieces.empty() && address + n_bytes - pieces.front().address > kWindow_bytes) flush();
                     pieces.push_back({address, offset, n_bytes});
                   });
    flush();
  }

  void check_is_all_there() const {
    const std::uint64_t file_bytes = file_->size_bytes();
    if (product(meta_.shape) == 0) return;
    const std::uint64_t room_bytes = file_bytes > place_.begin_bytes ? file_bytes - place_.begin_bytes : 0;
    const std::uint64_t n_whole =
        room_bytes < place_.slab_bytes ? 0 : (room_bytes - place_.slab_bytes) / place_.stride_bytes + 1;
    if (n_whole >= place_.n_slabs) return;
    const bool is_record = meta_.max_shape[0] == kUnlimited;
    throw Error(Code::corrupt,
                is_record ? fmt::format("{}: record {} of {} lies beyond the end of the file (truncated?)", meta_.path,
                                        n_whole, place_.n_slabs)
                          : fmt::format("{} lies beyond the end of the file (truncated?)", meta_.path),
                "copy or download the file again")
        .in(path_);
  }

  const std::shared_ptr<const Object> file_;
  const std::string path_;
  const Place place_;
  bool reads_gaps_ = false;
};

}  // namespace

std::unique_ptr<ArraySource> make_source(std::shared_ptr<const Object> file, const std::string& path, ArrayMeta meta,
                                         const Place& place) {
  return std::make_unique<VariableSource>(std::move(file), path, std::move(meta), place);
}

}  // namespace chunkwise::netcdf3
