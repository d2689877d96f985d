#include "array/scratch_array.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <utility>

#include "base/error.h"
#include "store/gather.h"

namespace chunkwise {
namespace {

std::uint32_t check_of(ByteView bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
}

}  // namespace

class ScratchArray::File : public Object {
 public:
  explicit File(const std::string& folder)
      : name_(fmt::format("scratch file in {}", folder.empty() ? "." : folder)),
        fd_(posix::nameless_file(folder.empty() ? "." : folder)) {}
  std::uint64_t size_bytes() const override { return ~std::uint64_t{0}; }  // it is never asked
  void read(std::uint64_t offset, MutableByteView out) const override { posix::read_at(fd_.get(), offset, out, name_); }
  void write(std::uint64_t offset, ByteView bytes) const { posix::write_at(fd_.get(), offset, bytes, name_); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  posix::Descriptor fd_;
};

class ScratchArray::Sink : public ArraySink {
 public:
  explicit Sink(ScratchArray& array) : ArraySink(array.meta_), array_(array) {}
  void write(ChunkId id, const EncodedChunk& chunk) override {
    if (chunk.absent) return;
    Place& place = array_.places_[static_cast<std::size_t>(linear(id))];
    place.offset_bytes = array_.end_bytes_.fetch_add(chunk.bytes.size());
    place.size_bytes = static_cast<std::uint32_t>(chunk.bytes.size());
    place.check = check_of(chunk.bytes);
    array_.file_->write(place.offset_bytes, chunk.bytes);
  }

 private:
  ScratchArray& array_;
};

class ScratchArray::Source : public ArraySource {
 public:
  explicit Source(const ScratchArray& array) : ArraySource(array.meta_), array_(array) {}
  ChunkRef locate(ChunkId id) const override {
    const Place& place = place_of(id);
    if (place.size_bytes == 0) return Absent{};
    return StoredAt{place.offset_bytes, place.size_bytes, 0, 0};
  }
  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    std::vector<ByteRange> ranges;
    ranges.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i)
      ranges.push_back({place_of(ids[i]).offset_bytes, place_of(ids[i]).size_bytes, i});
    batch.blocks.resize(1);
    const std::vector<ByteView> views = gather(*array_.file_, ranges, batch.blocks[0]);
    batch.chunks.assign(ids.size(), {});
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::size_t slot = ranges[i].slot;
      if (check_of(views[i]) != place_of(ids[slot]).check)
        throw Error(Code::mismatch,
                    fmt::format("the {} gave back other bytes than were written to it: {} from {} on, with the hash "
                                "{:08x}, not {:08x}",
                                array_.file_->name(), place_of(ids[slot]).size_bytes, place_of(ids[slot]).offset_bytes,
                                check_of(views[i]), place_of(ids[slot]).check),
                    "the disk is not to be trusted; choose another folder with --scratch");
      batch.chunks[slot].bytes = views[i];
    }
  }

 private:
  const Place& place_of(ChunkId id) const { return array_.places_[static_cast<std::size_t>(linear(id))]; }
  const ScratchArray& array_;
};

ScratchArray::ScratchArray(const ArrayMeta& meta, const CutGrid& boxes, const std::string& folder)
    : meta_(meta), file_(std::make_shared<File>(folder)), places_(static_cast<std::size_t>(boxes.n_boxes())) {}

std::unique_ptr<ArraySink> ScratchArray::sink() {
  return std::make_unique<Sink>(*this);
}

std::unique_ptr<ArraySource> ScratchArray::source() const {
  return std::make_unique<Source>(*this);
}

std::vector<ScratchCodecs> scratch_codecs(std::size_t element_bytes) {
  constexpr std::size_t kLargestNumber_bytes = 16;
  constexpr double kFast = 1.25;
  constexpr double kStrong = 1.05;
  CodecSpecs shuffle;  // the bytes of texts and of structures do not go together
  if (element_bytes > 1 && element_bytes <= kLargestNumber_bytes)
    shuffle.push_back({"shuffle", {{"element_bytes", static_cast<std::int64_t>(element_bytes)}}});
  CodecSpecs fast = shuffle;
  fast.push_back({"lz4", {}});
  CodecSpecs strong = shuffle;
  strong.push_back({"zstd", {{"level", std::int64_t{1}}}});
  return {{{}, 1}, {fast, kFast}, {strong, kStrong}};
}

}  // namespace chunkwise
