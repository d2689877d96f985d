#include "rechunk/encoded_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "array/element_stream.h"
#include "base/error.h"
#include "base/sizes.h"
#include "codec/chain.h"
#include "rechunk/each_offset.h"

namespace chunkwise {
namespace {

/// What it takes to decode a chunk: the encoded bytes with what reading may take, the table, and the stream, twice if
/// there is something between two codecs.
std::uint64_t bytes_to_decode(std::uint64_t encoded_bytes, std::uint64_t n_elements, std::uint64_t stream_bytes,
                              const ArrayMeta& meta) {
  return encoded_bytes + encoded_bytes / 8 + n_elements * sizeof(ElementView) +
         (meta.codecs.size() > 1 ? 2 : 1) * stream_bytes;
}

/// Chunks decode into a buffer that is made for so much at first; address space is not for nothing either.
constexpr std::uint64_t kFirstFactor = 16;
constexpr std::uint64_t kLeastDecoded_bytes = 1u << 20;

[[noreturn]] void too_large(const std::string& place, std::uint64_t most_bytes) {
  throw Error(
      Code::budget,
      fmt::format("the elements of {} take more than the {} there are for them", place, format_bytes(most_bytes)),
      "allow more memory with --memory");
}

std::string place_of(const ArrayMeta& meta, const ChunkGrid& grid, ChunkId id) {
  return fmt::format("chunk ({}) of {}", to_string(grid.coords(id)), meta.path);
}

class EncodedElementSource final : public ElementSource {
 public:
  EncodedElementSource(std::unique_ptr<ArraySource> chunks, std::uint64_t most_bytes)
      : ElementSource(chunks->meta()),
        chunks_(std::move(chunks)),
        most_bytes_(most_bytes),
        chain_(meta_.codecs, meta_.dtype.codec_bytes()) {}

  bool is_written(ChunkId id) override {
    const ChunkRef ref = chunks_->locate(id);
    if (!std::holds_alternative<Unlocated>(ref)) return std::holds_alternative<StoredAt>(ref);
    if (held_ != id) decode(id);
    return !is_absent_;
  }

  bool read(const Box& box, std::vector<ElementView>& elements) override {
    const ChunkGrid& grid = chunks_->grid();
    const ChunkId id = grid.overlapping(box).front();
    if (held_ != id) decode(id);
    CHUNKWISE_CHECK(!is_absent_);
    const Box stored = stored_box(id);
    elements.clear();
    for_each_offset(stored, dense_strides_bytes(stored.shape, meta_.layout.axes, 1), box,
                    [&](Index offset) { elements.push_back(decoded_[static_cast<std::size_t>(offset)]); });
    return true;
  }

 private:
  Box stored_box(ChunkId id) const { return meta_.pads_edges ? chunks_->grid().full_box(id) : chunks_->grid().box(id); }

  void decode(ChunkId id) {
    held_.reset();
    const std::string place = place_of(meta_, chunks_->grid(), id);
    const auto n = static_cast<std::uint64_t>(product(stored_box(id).shape));
    const std::uint64_t fixed_bytes = bytes_to_decode(most_bytes(chunks_->locate(id)), n, 0, meta_);
    if (fixed_bytes >= most_bytes_) too_large(place, most_bytes_);
    chunks_->read(std::span(&id, 1), batch_);
    is_absent_ = batch_.chunks[0].absent;
    if (is_absent_) {
      decoded_.clear();
      held_ = id;
      return;
    }
    try {
      split_elements(decode_bytes(place, most_bytes_ - fixed_bytes), meta_.dtype, static_cast<std::size_t>(n),
                     decoded_);
    } catch (Error& error) {
      if (error.code() == Code::budget) throw;
      throw error.in(place);
    }
    held_ = id;
  }

  ByteView decode_bytes(const std::string& place, std::uint64_t room_bytes) {
    const ByteView encoded = batch_.chunks[0].bytes;
    const std::uint64_t most = meta_.codecs.size() > 1 ? room_bytes / 2 : room_bytes;
    std::uint64_t limit = std::max(kFirstFactor * encoded.size(), kLeastDecoded_bytes);
    for (;; limit *= kFirstFactor) {
      limit = std::min(limit, most);
      if (const auto decoded = chain_.decode_at_most(encoded, static_cast<std::size_t>(limit), scratch_))
        return *decoded;
      if (limit == most) too_large(place, most_bytes_);
    }
  }

  std::unique_ptr<ArraySource> chunks_;
  std::uint64_t most_bytes_;
  CodecChain chain_;
  CodecChain::Scratch scratch_;
  ReadBatch batch_;
  std::vector<ElementView> decoded_;  // of the chunk that is held, in stored order
  std::optional<ChunkId> held_;
  bool is_absent_ = false;  // what is held
};

class EncodedElementSink final : public ElementSink {
 public:
  EncodedElementSink(std::unique_ptr<ArraySink> chunks, std::uint64_t most_bytes)
      : chunks_(std::move(chunks)),
        most_bytes_(most_bytes),
        chain_(chunks_->meta().codecs, chunks_->meta().dtype.codec_bytes()) {}

  void leave_out(ChunkId id) override { chunks_->write(id, {{}, 0, true}); }

  void write(ChunkId id, std::span<const ElementView> elements) override {
    const ArrayMeta& meta = chunks_->meta();
    const ChunkGrid& grid = chunks_->grid();
    const std::string place = place_of(meta, grid, id);
    try {
      arrange(id, elements);
      const std::uint64_t stream = stream_bytes(stored_);
      const std::uint64_t needed =
          stored_.size() * sizeof(ElementView) + chain_.scratch_need(static_cast<std::size_t>(stream)).total_bytes();
      if (needed > most_bytes_) too_large(place, most_bytes_);
      join_elements(stored_, scratch_.b);
      const ByteView encoded = chain_.encode(scratch_.b, scratch_);
      if (bytes_to_decode(encoded.size(), stored_.size(), stream, meta) > most_bytes_ / 2)
        too_large(place, most_bytes_);
      chunks_->write(id, {encoded, 0, false});
    } catch (Error& error) {
      if (error.code() == Code::budget) throw;
      throw error.in(place);
    }
  }

 private:
  /// Puts the elements in stored order; what lies past the end of the array is fill.
  void arrange(ChunkId id, std::span<const ElementView> elements) {
    const ArrayMeta& meta = chunks_->meta();
    const Box inner = chunks_->grid().box(id);
    const Box stored = meta.pads_edges ? chunks_->grid().full_box(id) : inner;
    const auto n = static_cast<std::uint64_t>(product(stored.shape));
    if (n > most_bytes_ / sizeof(ElementView)) too_large(place_of(meta, chunks_->grid(), id), most_bytes_);
    stored_.assign(static_cast<std::size_t>(n), fill_element(meta));
    std::size_t next = 0;
    for_each_offset(stored, dense_strides_bytes(stored.shape, meta.layout.axes, 1), inner,
                    [&](Index offset) { stored_[static_cast<std::size_t>(offset)] = elements[next++]; });
  }

  std::unique_ptr<ArraySink> chunks_;
  std::uint64_t most_bytes_;
  CodecChain chain_;
  CodecChain::Scratch scratch_;
  std::vector<ElementView> stored_;
};

}  // namespace

std::unique_ptr<ElementSource> open_element_source(const Reader& reader, const std::string& path,
                                                   std::uint64_t most_bytes) {
  if (auto source = reader.open_elements(path, most_bytes)) return source;
  return std::make_unique<EncodedElementSource>(reader.open_array(path), most_bytes);
}

std::unique_ptr<ElementSink> open_element_sink(Writer& writer, const ArrayMeta& target, std::uint64_t most_bytes) {
  if (auto sink = writer.open_elements(target.path, most_bytes)) return sink;
  return std::make_unique<EncodedElementSink>(writer.open_array(target.path), most_bytes);
}

}  // namespace chunkwise
