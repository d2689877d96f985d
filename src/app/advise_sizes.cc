#include "app/advise_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "codec/registry.h"

namespace chunkwise {
namespace {

constexpr Index kBoxes = 3;
/// Finding one chunk of a file takes a list of all; that of so many is quick.
constexpr Index kQuickChunks = 20000;
/// Besides what the boxes say: what is chance in one encoding, and what another chunk size than that of the boxes
/// means.
constexpr double kChance = 1.03;
constexpr double kClipped = 1.1;
constexpr double kOneBox = 1.1;

double bytes_of(const Shape& shape, std::size_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const Index length : shape) bytes *= static_cast<double>(length);
  return bytes;
}

/// Whole units of the array, grown evenly to about so many bytes.
Shape box_of_units(const Shape& array, const Shape& unit, std::size_t element_bytes, double most_bytes) {
  Shape box = unit;
  for (int axis = 0; axis < box.rank(); ++axis) box[axis] = std::min(box[axis], array[axis]);
  while (true) {
    int shortest = -1;
    for (int axis = 0; axis < box.rank(); ++axis) {
      if (box[axis] < array[axis] && (shortest < 0 || box[axis] < box[shortest])) shortest = axis;
    }
    if (shortest < 0) return box;
    const Index next = std::min(array[shortest], 2 * box[shortest]);
    const double grown = bytes_of(box, element_bytes) * static_cast<double>(next) / static_cast<double>(box[shortest]);
    if (grown > most_bytes) return box;
    box[shortest] = next;
  }
}

/// Shortens the longest axes until the box has at most so many bytes.
Shape cropped(Shape box, std::size_t element_bytes, double most_bytes) {
  while (bytes_of(box, element_bytes) > most_bytes) {
    int longest = 0;
    for (int axis = 1; axis < box.rank(); ++axis) {
      if (box[axis] > box[longest]) longest = axis;
    }
    if (box[longest] == 1) break;
    box[longest] = (box[longest] + 1) / 2;
  }
  return box;
}

/// A contiguous array is read in short rows, so that boxes need not be whole planes of it.
Shape row_of(const Shape& array) {
  constexpr Index kRow = 64;
  Shape row = Shape::filled(array.rank(), 1);
  const int last = array.rank() - 1;
  row[last] = std::min(kRow, array[last]);
  return row;
}

}  // namespace

SizeSampler::SizeSampler(const ArraySource& original, std::uint64_t sample_bytes) : meta_(original.meta()) {
  std::unique_ptr<ArraySource> rows;
  if (meta_.storage != Storage::chunked) rows = cut_linear(original, row_of(meta_.shape));
  const ArraySource& source = rows ? *rows : original;
  const Shape& unit = source.meta().chunk;
  has_codecs_ = !meta_.codecs.empty();
  const double unit_bytes = bytes_of(unit, meta_.dtype.bytes);
  if (unit_bytes > 4.0 * static_cast<double>(sample_bytes)) {
    why_not_ = fmt::format("one chunk has {} decoded: --sample {} looks at it",
                           format_bytes(static_cast<std::uint64_t>(unit_bytes)),
                           format_bytes(static_cast<std::uint64_t>(unit_bytes / 4) + 1));
    return;
  }
  const double written = static_cast<double>(meta_.n_stored_chunks) * bytes_of(meta_.chunk, meta_.dtype.bytes);
  if (has_codecs_ && written > 0) stored_ratio_ = static_cast<double>(meta_.stored_bytes) / written;
  const double box_bytes = static_cast<double>(sample_bytes) / static_cast<double>(kBoxes);
  const Shape shape = box_of_units(meta_.shape, unit, meta_.dtype.bytes, box_bytes);
  const Shape box_shape = cropped(shape, meta_.dtype.bytes, std::max(box_bytes, 1.0));
  // At one, three and five sixths of every axis, in whole units, inside the array.
  for (Index part = 0; part < kBoxes; ++part) {
    Box box{Shape::filled(meta_.shape.rank(), 0), box_shape};
    for (int axis = 0; axis < meta_.shape.rank(); ++axis) {
      const Index room = meta_.shape[axis] - shape[axis];
      const auto place = static_cast<Index>(static_cast<double>(room) * static_cast<double>(2 * part + 1) /
                                            static_cast<double>(2 * kBoxes));
      box.origin[axis] = place / unit[axis] * unit[axis];
    }
    const bool again = std::any_of(boxes_.begin(), boxes_.end(), [&](const Sampled& s) { return s.box == box; });
    if (!again) take(source, box);
  }
  if (boxes_.empty()) why_not_ = "the places looked at were never written";
}

void SizeSampler::take(const ArraySource& source, const Box& box) {
  const ArrayMeta& meta = source.meta();
  const ChunkGrid& grid = source.grid();
  const std::vector<ChunkId> ids = grid.overlapping(box);
  Sampled sampled{box, {}};
  sampled.elements.resize(static_cast<std::size_t>(product(box.shape)) * meta.dtype.bytes);
  const CodecChain chain(meta.codecs, meta.dtype.bytes);
  CodecChain::Scratch scratch;
  ReadBatch batch;
  for (const ChunkId id : ids) {
    // What was never written compresses to nothing and says nothing.
    if (std::holds_alternative<Absent>(source.locate(id))) return;
    source.read(std::span(&id, 1), batch);
    const EncodedChunk& chunk = batch.chunks[0];
    if (chunk.absent) return;
    const Box stored = meta.pads_edges ? grid.full_box(id) : grid.box(id);
    const auto bytes = static_cast<std::size_t>(product(stored.shape)) * meta.dtype.bytes;
    const bool raw = meta.raw_edges && grid.overhangs(id);
    const ByteView decoded = raw ? chunk.bytes : chain.decode(chunk.bytes, bytes, chunk.skipped_codecs, scratch);
    if (decoded.size() < bytes) return;
    BoxCopy copy;
    copy.src_box = stored;
    copy.src_layout = meta.layout;
    copy.dst_box = box;
    copy.dst_layout.byte_order = meta.layout.byte_order;
    copy.part = intersect(grid.box(id), box);
    copy.element = meta.dtype.element();
    copy_box(copy, decoded.data(), sampled.elements.data());
  }
  boxes_.push_back(std::move(sampled));
}

std::uint64_t SizeSampler::decoded_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& sampled : boxes_) bytes += sampled.elements.size();
  return bytes;
}

std::vector<double> SizeSampler::encoded_shares(const Shape& chunk, const CodecSpecs& codecs,
                                                std::size_t n_boxes) const {
  std::vector<double> shares;
  Bytes block;
  CodecChain::Scratch scratch;
  for (std::size_t i_box = 0; i_box < n_boxes; ++i_box) {
    const Sampled& sampled = boxes_[i_box];
    Shape cut = chunk;
    for (int axis = 0; axis < cut.rank(); ++axis) cut[axis] = std::min(cut[axis], sampled.box.shape[axis]);
    ArrayMeta meta = meta_;
    meta.chunk = cut;
    const CodecChain chain(for_chunk(codecs, {cut, codec_elements(meta)}), meta_.dtype.bytes);
    const ChunkGrid grid(sampled.box.shape, cut);
    double encoded = 0;
    double decoded = 0;
    const Box inside = whole(sampled.box.shape);
    for (Index i = 0; i < grid.n_chunks(); ++i) {
      const auto id = static_cast<ChunkId>(i);
      // Blocks cut short by the box are other chunks than asked for.
      if (grid.overhangs(id)) continue;
      block.resize(static_cast<std::size_t>(product(cut)) * meta_.dtype.bytes);
      BoxCopy copy;
      copy.src_box = inside;
      copy.src_layout.byte_order = meta_.layout.byte_order;
      copy.dst_box = grid.box(id);
      copy.dst_layout.byte_order = meta_.layout.byte_order;
      copy.part = copy.dst_box;
      copy.element = meta_.dtype.element();
      copy_box(copy, sampled.elements.data(), block.data());
      encoded += static_cast<double>(chain.encode(block.view(), scratch).size());
      decoded += static_cast<double>(block.size());
    }
    shares.push_back(encoded / decoded);
  }
  return shares;
}

SampledRatio SizeSampler::ratio(const Shape& chunk, const CodecSpecs& codecs, bool quickly) const {
  CHUNKWISE_CHECK(!boxes_.empty());
  const std::string key = to_string(chunk) + " " + to_string(codecs) + (quickly ? " quickly" : "");
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const std::size_t n_boxes = quickly ? 1 : boxes_.size();
  SampledRatio result;
  const bool same = has_codecs_ && chunk == meta_.chunk && codecs == meta_.codecs;
  if (same) {
    result = {stored_ratio_, stored_ratio_, stored_ratio_};
  } else if (!codecs.empty()) {
    std::vector<double> shares = encoded_shares(chunk, codecs, n_boxes);
    if (has_codecs_) {
      std::vector<double>& present = present_shares_;
      if (present.empty()) present = encoded_shares(meta_.chunk, meta_.codecs, boxes_.size());
      for (std::size_t i = 0; i < shares.size(); ++i) shares[i] *= stored_ratio_ / present[i];
    }
    double sum = 0;
    for (const double share : shares) sum += share;
    bool clipped = false;
    for (int axis = 0; axis < chunk.rank(); ++axis) {
      clipped = clipped || std::any_of(boxes_.begin(), boxes_.end(),
                                       [&](const Sampled& s) { return s.box.shape[axis] < chunk[axis]; });
    }
    const double wider = kChance * (clipped ? kClipped : 1.0) * (n_boxes == 1 ? kOneBox : 1.0);
    result.ratio = sum / static_cast<double>(shares.size());
    result.low = *std::min_element(shares.begin(), shares.end()) / wider;
    result.high = *std::max_element(shares.begin(), shares.end()) * wider;
  }
  known_.emplace(key, result);
  return result;
}

SizeSampler sample_array(const Reader& reader, const ArrayMeta& meta, std::uint64_t sample_bytes, bool thoroughly) {
  if (meta.dtype.is_varying()) return SizeSampler("elements have any length");
  if (meta.storage == Storage::virtual_) return SizeSampler("the array is a map of others");
  if (meta.stored_bytes == 0) return SizeSampler("nothing was ever written");
  if (!thoroughly && meta.n_stored_chunks > kQuickChunks)
    return SizeSampler(fmt::format("{} chunks: --sample SIZE looks at some", format_count(meta.n_stored_chunks)));
  try {
    return SizeSampler(*reader.open_array(meta.path), sample_bytes);
  } catch (const Error& error) {
    return SizeSampler(error.message());
  }
}

}  // namespace chunkwise
