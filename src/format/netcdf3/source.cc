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
/// was wanted before it.
constexpr std::uint64_t kPage_bytes = 4096;
constexpr std::uint64_t kLongestGap_bytes = 64u << 10;
constexpr std::uint64_t kGapShare = 8;
/// Pieces are read together with their gaps through a window of this size.
constexpr std::uint64_t kWindow_bytes = 256u << 10;

/// Reads pieces that come in the order of their addresses, neighbours in one request.
class PieceReader {
 public:
  explicit PieceReader(const Object& file) : file_(file) {}

  void add(std::uint64_t address, MutableByteView out) {
    if (!pieces_.empty()) {
      Piece& last = pieces_.back();
      const std::uint64_t end = last.address + last.out.size();
      if (address == end && out.data() == last.out.data() + last.out.size()) {
        last.out = {last.out.data(), last.out.size() + out.size()};
        // It has outgrown the window, so those before it are read without it.
        if (pieces_.size() > 1 && end + out.size() - pieces_.front().address > kWindow_bytes) {
          const Piece grown = last;
          pieces_.pop_back();
          flush();
          pieces_.push_back(grown);
        }
        return;
      }
      const std::uint64_t most_gap_bytes =
          std::max<std::uint64_t>(kPage_bytes, std::min<std::uint64_t>(last.out.size() / kGapShare, kLongestGap_bytes));
      if (address < end || address - end > most_gap_bytes ||
          address + out.size() - pieces_.front().address > kWindow_bytes)
        flush();
    }
    pieces_.push_back({address, out});
  }

  void flush() {
    if (pieces_.size() == 1) {
      file_.read(pieces_.front().address, pieces_.front().out);
    } else if (pieces_.size() > 1) {
      const std::uint64_t begin = pieces_.front().address;
      const std::uint64_t end = pieces_.back().address + pieces_.back().out.size();
      window_.resize_discard(static_cast<std::size_t>(end - begin));
      file_.read(begin, window_.span());
      for (const Piece& piece : pieces_)
        std::copy_n(window_.data() + (piece.address - begin), piece.out.size(), piece.out.data());
    }
    pieces_.clear();
  }

 private:
  struct Piece {
    std::uint64_t address = 0;
    MutableByteView out;
  };
  const Object& file_;
  std::vector<Piece> pieces_;
  Bytes window_;
};

class VariableSource final : public ArraySource {
 public:
  VariableSource(std::shared_ptr<const Object> file, std::string path, ArrayMeta meta, const Place& place)
      : ArraySource(std::move(meta)), file_(std::move(file)), path_(std::move(path)), place_(place) {
    check_linear(meta_);
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
    PieceReader reader(*file_);
    std::size_t at = 0;
    try {
      for (const std::size_t i : order) {
        const MutableByteView run = block.span().subspan(at, static_cast<std::size_t>(ranges[i].size_bytes));
        for_each_piece(place_, ranges[i].offset_bytes, ranges[i].size_bytes,
                       [&](std::uint64_t address, std::uint64_t offset, std::uint64_t n_bytes) {
                         reader.add(address, run.subspan(offset, n_bytes));
                       });
        batch.chunks[i].bytes = run;
        at += run.size();
      }
      reader.flush();
    } catch (Error& error) {
      throw error.in(meta_.path).in(path_);
    }
  }

  std::unique_ptr<ArraySource> in_runs(const Shape& chunk) const override {
    ArrayMeta meta = meta_;
    meta.chunk = chunk;
    return std::make_unique<VariableSource>(file_, path_, std::move(meta), place_);
  }

 private:
  void check_is_all_there() const {
    const std::uint64_t file_bytes = file_->size_bytes();
    if (product(meta_.shape) == 0) return;
    const std::uint64_t room_bytes = file_bytes > place_.begin_bytes ? file_bytes - place_.begin_bytes : 0;
    const std::uint64_t n_whole =
        room_bytes < place_.slab_bytes ? 0 : (room_bytes - place_.slab_bytes) / place_.stride_bytes + 1;
    if (n_whole >= place_.n_slabs) return;
    const bool is_record = meta_.max_shape.rank() > 0 && meta_.max_shape[0] == kUnlimited;
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
};

}  // namespace

std::unique_ptr<ArraySource> make_source(std::shared_ptr<const Object> file, const std::string& path, ArrayMeta meta,
                                         const Place& place) {
  return std::make_unique<VariableSource>(std::move(file), path, std::move(meta), place);
}

}  // namespace chunkwise::netcdf3
