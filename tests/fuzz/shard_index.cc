// Shards: the index, and the chunks that it speaks of.
//   form:u8, then the object; bits of the form: 0 index at the start, 1 big-endian, 2 checksum, 3 shards inside shards,
//   4 axes counted in reverse, 5 the inner index at the start
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "array/shard_index.h"
#include "array/shard_source.h"
#include "base/error.h"

using namespace chunkwise;

namespace {

// Of all objects there is one.
class OneObject final : public Store {
 public:
  explicit OneObject(ByteView bytes) : bytes_(bytes) {}
  std::unique_ptr<Object> open(std::string_view key) const override {
    if (key != "c/0/0") return nullptr;
    return std::make_unique<View>(bytes_);
  }
  std::optional<Bytes> read(std::string_view, std::uint64_t) const override { std::abort(); }
  std::optional<std::uint64_t> size_bytes(std::string_view key) const override {
    if (key != "c/0/0") return std::nullopt;
    return bytes_.size();
  }
  void write(std::string_view, ByteView) override { std::abort(); }
  std::unique_ptr<PieceWriter> open_pieces(std::string_view, std::optional<std::uint64_t>) override { std::abort(); }
  std::vector<Entry> list(std::string_view) const override { std::abort(); }
  void list_sizes(std::string_view, const std::function<void(const SizedEntry&)>&) const override { std::abort(); }
  void sync() override {}

 private:
  class View final : public Object {
   public:
    explicit View(ByteView bytes) : bytes_(bytes) {}
    std::uint64_t size_bytes() const override { return bytes_.size(); }
    void read(std::uint64_t offset, MutableByteView out) const override {
      // What is asked for must have been checked before.
      if (offset > bytes_.size() || out.size() > bytes_.size() - offset) std::abort();
      if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    }

   private:
    ByteView bytes_;
  };
  ByteView bytes_;
};

ShardLevel level(const Shape& shape, unsigned form, bool at_start) {
  ShardLevel result;
  result.shape = shape;
  result.index_at_start = at_start;
  if ((form & 2U) != 0) result.index_order = ByteOrder::big;
  if ((form & 4U) != 0) result.index_codecs = {CodecSpec{"crc32c", {}}};
  if ((form & 16U) != 0) result.index_axes = {1, 0};
  return result;
}

// 6 x 4 chunks in 2 x 1 shards, the second of which is not there.
ArrayMeta array_of(unsigned form) {
  ArrayMeta meta;
  meta.path = "/v";
  meta.dtype = *parse_dtype("u1");
  meta.shape = meta.max_shape = {11, 12};
  meta.chunk = {2, 3};
  meta.codecs = {CodecSpec{"crc32c", {}}};
  meta.shards = {level({6, 12}, form, (form & 1U) != 0)};
  if ((form & 8U) != 0) meta.shards.push_back(level({2, 6}, form, (form & 32U) != 0));
  return meta;
}

// An index that is read is the one that would be written.
void check_index(const ArrayMeta& meta, ByteView object) {
  const ShardIndexForm form = shard_index_forms(meta).front();
  CodecChain::Scratch scratch;
  const ByteView stored = object.subspan(static_cast<std::size_t>(form.place(object.size())),
                                         static_cast<std::size_t>(form.stored_bytes()));
  const std::vector<ShardEntry> entries = form.decode(stored, scratch);
  if (as_text(form.encode(entries, scratch)) != as_text(stored)) std::abort();
}

void check_chunk(const ShardSource& source, ChunkId id, ByteView object) {
  const ChunkRef where = source.locate(id);
  ReadBatch batch;
  source.read(std::span(&id, 1), batch);
  const EncodedChunk& chunk = batch.chunks.front();
  const auto* at = std::get_if<StoredAt>(&where);
  if (chunk.absent != (at == nullptr)) std::abort();
  if (at == nullptr) return;
  if (at->offset_bytes > object.size() || at->length_bytes > object.size() - at->offset_bytes) std::abort();
  const ByteView due =
      object.subspan(static_cast<std::size_t>(at->offset_bytes), static_cast<std::size_t>(at->length_bytes));
  if (as_text(chunk.bytes) != as_text(due)) std::abort();
}

template <typename Do>
void expect_corrupt_at_most(const Do& what) {
  try {
    what();
  } catch (const Error& error) {
    if (error.code() != Code::corrupt) throw;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const ArrayMeta meta = array_of(data[0]);
  // Of its own, so that a sanitizer sees any read beyond the end.
  const Bytes object = Bytes::copy_of(std::as_bytes(std::span(data + 1, size - 1)));
  const ShardSource source(std::make_shared<const OneObject>(object.view()), meta, {{"", true, '/'}, nullptr});
  expect_corrupt_at_most([&] { check_index(meta, object.view()); });
  for (Index i = 0; i < source.grid().n_chunks(); ++i) {
    expect_corrupt_at_most([&] { check_chunk(source, ChunkId{i}, object.view()); });
  }
  return 0;
}
