// Elements of any length between formats in memory: one with encoded chunks, like Zarr, and one that reads and writes
// elements itself, like HDF5.
#include "rechunk/element_copy.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "../base/throws_code.h"
#include "array/element_stream.h"
#include "codec/registry.h"
#include "rechunk/encoded_elements.h"

using namespace std::string_literals;

namespace chunkwise {
namespace {

/// None: null.
using Text = std::optional<std::string>;

ElementView view(const Text& text) {
  return text ? ElementView(as_bytes(*text)) : ElementView();
}

/// All elements in C order, and the chunks that were written; of a format that refers.
struct Elements {
  ArrayMeta meta;
  std::vector<Text> texts;
  std::map<Index, bool> written;
  Index n_reads = 0;
};

std::size_t offset_in(const Shape& shape, const Shape& at) {
  Index offset = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) offset = offset * shape[axis] + at[axis];
  return static_cast<std::size_t>(offset);
}

class MemorySource final : public ElementSource {
 public:
  MemorySource(Elements& elements, std::uint64_t most_bytes)
      : ElementSource(elements.meta), elements_(elements), most_bytes_(most_bytes) {}
  bool is_written(ChunkId id) override { return elements_.written.contains(linear(id)); }
  bool read(const Box& box, std::vector<ElementView>& out) override {
    ++elements_.n_reads;
    out.clear();
    std::uint64_t bytes = 0;
    for (Index i = 0; i < product(box.shape); ++i) {
      out.push_back(view(elements_.texts[offset_in(meta_.shape, position_in(box, i))]));
      bytes += sizeof(ElementView) + out.back().size_bytes;
    }
    if (bytes <= most_bytes_) return true;
    if (out.size() > 1) return false;
    throw Error(Code::budget, "an element alone");
  }

 private:
  Elements& elements_;
  std::uint64_t most_bytes_;
};

class MemorySink final : public ElementSink {
 public:
  explicit MemorySink(Elements& elements) : elements_(elements) {}
  void write(ChunkId id, std::span<const ElementView> elements) override {
    const Box box = elements_.meta.grid().box(id);
    REQUIRE(static_cast<Index>(elements.size()) == product(box.shape));
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements_.texts[offset_in(elements_.meta.shape, position_in(box, static_cast<Index>(i)))] =
          elements[i].is_null() ? Text() : Text(as_text(elements[i].bytes()));
    elements_.written[linear(id)] = true;
  }

 private:
  Elements& elements_;
};

/// Encoded chunks by number.
struct Chunks {
  ArrayMeta meta;
  std::map<Index, std::string> encoded;
  Index n_reads = 0;
};

class ChunkSource final : public ArraySource {
 public:
  explicit ChunkSource(Chunks& chunks) : ArraySource(chunks.meta), chunks_(chunks) {}
  ChunkRef locate(ChunkId id) const override {
    const auto found = chunks_.encoded.find(linear(id));
    if (found == chunks_.encoded.end()) return Absent{};
    return StoredAt{0, found->second.size(), 0};
  }
  void read(std::span<const ChunkId> ids, ReadBatch& batch) const override {
    batch.chunks.clear();
    for (const ChunkId id : ids) batch.chunks.push_back({as_bytes(chunks_.encoded.at(linear(id))), 0, false});
    chunks_.n_reads += static_cast<Index>(ids.size());
  }

 private:
  Chunks& chunks_;
};

class ChunkSink final : public ArraySink {
 public:
  explicit ChunkSink(Chunks& chunks) : ArraySink(chunks.meta), chunks_(chunks) {}
  void write(ChunkId id, const EncodedChunk& chunk) override {
    if (!chunk.absent) chunks_.encoded[linear(id)] = as_text(chunk.bytes);
  }

 private:
  Chunks& chunks_;
};

/// Both ends of a copy; the one of the two members that is there counts.
struct Place {
  std::optional<Elements> elements;
  std::optional<Chunks> chunks;
  const ArrayMeta& meta() const { return elements ? elements->meta : chunks->meta; }
};

class PlaceReader final : public Reader {
 public:
  explicit PlaceReader(Place& place) : place_(place) {}
  const Hierarchy& tree() const override { return tree_; }
  std::unique_ptr<ArraySource> open_array(const std::string&) const override {
    return std::make_unique<ChunkSource>(*place_.chunks);
  }
  std::unique_ptr<ElementSource> open_elements(const std::string&, std::uint64_t most_bytes) const override {
    if (!place_.elements) return nullptr;
    return std::make_unique<MemorySource>(*place_.elements, most_bytes);
  }

 private:
  Place& place_;
  Hierarchy tree_;
};

class PlaceWriter final : public Writer {
 public:
  explicit PlaceWriter(Place& place) : place_(place) {}
  std::unique_ptr<ArraySink> open_array(const std::string&) override {
    return std::make_unique<ChunkSink>(*place_.chunks);
  }
  std::unique_ptr<ElementSink> open_elements(const std::string&, std::uint64_t) override {
    if (!place_.elements) return nullptr;
    return std::make_unique<MemorySink>(*place_.elements);
  }
  void finish() override {}

 private:
  Place& place_;
};

ArrayMeta meta_of(const Shape& shape, const Shape& chunk, bool refers, const std::string& codecs = "none") {
  ArrayMeta meta;
  meta.path = "/s";
  meta.dtype = string_type();
  meta.dtype.refers = refers;
  meta.shape = meta.max_shape = shape;
  meta.chunk = chunk;
  meta.codecs = parse_codecs(codecs);
  return meta;
}

Place in_elements(const Shape& shape, const Shape& chunk, const std::vector<Text>& texts = {}) {
  Place place;
  place.elements = Elements{meta_of(shape, chunk, true), texts, {}};
  place.elements->texts.resize(static_cast<std::size_t>(product(shape)));
  if (!texts.empty())
    for (Index i = 0; i < place.meta().grid().n_chunks(); ++i) place.elements->written[i] = true;
  return place;
}

Place in_chunks(const Shape& shape, const Shape& chunk, const std::string& codecs = "none", bool order_f = false) {
  Place place;
  place.chunks = Chunks{meta_of(shape, chunk, false, codecs), {}};
  if (order_f)
    for (int axis = shape.rank() - 1; axis >= 0; --axis) place.chunks->meta.layout.axes.push_back(axis);
  return place;
}

struct Told {
  Index n_stored = 0;
  Index n_absent = 0;
};

ElementWork work_of(std::uint64_t memory_bytes, Told* told = nullptr) {
  ElementWork work;
  work.memory_bytes = memory_bytes;
  if (told != nullptr) work.done = [told](bool stored, auto, auto) { ++(stored ? told->n_stored : told->n_absent); };
  return work;
}

constexpr std::uint64_t kPlenty = 64 << 20;

ElementCopy copy(Place& from, Place& to, std::uint64_t memory_bytes = kPlenty, bool allows_loss = false,
                 Told* told = nullptr) {
  const PlaceReader reader(from);
  PlaceWriter writer(to);
  return copy_elements(reader, from.meta(), writer, to.meta(), allows_loss, work_of(memory_bytes, told));
}

void compare(Place& from, Place& to, std::uint64_t memory_bytes = kPlenty) {
  const PlaceReader wanted(from);
  const PlaceReader got(to);
  compare_elements(wanted, from.meta(), got, to.meta(), work_of(memory_bytes));
}

std::vector<Text> random_texts(const Shape& shape, std::size_t most_length) {
  std::mt19937 random(11);
  std::vector<Text> texts(static_cast<std::size_t>(product(shape)));
  for (Text& text : texts) {
    text.emplace(std::uniform_int_distribution<std::size_t>(0, most_length)(random), 'a');
    for (char& c : *text) c = static_cast<char>(std::uniform_int_distribution<int>(0, 127)(random));
  }
  return texts;
}

}  // namespace

TEST_CASE("Elements survive every pair of grids, orders and codecs, in little memory too") {
  const Shape shape{13, 9, 5};
  const std::vector<Text> texts = random_texts(shape, 40);
  for (const Shape& chunk : {Shape{13, 9, 5}, Shape{4, 3, 5}, Shape{1, 9, 2}, Shape{20, 1, 1}}) {
    for (const char* codecs : {"none", "zstd:3", "gzip:1", "blosc:lz4:5:shuffle", "zstd:1,crc32c"}) {
      for (const bool order_f : {false, true}) {
        for (const std::uint64_t memory_bytes : {kPlenty, std::uint64_t{400} << 10}) {
          CAPTURE(to_string(chunk), codecs, order_f, memory_bytes);
          Place source = in_elements(shape, {3, 3, 3}, texts);
          Place middle = in_chunks(shape, chunk, codecs, order_f);
          copy(source, middle, memory_bytes);
          compare(source, middle, memory_bytes);
          Place other = in_chunks(shape, {5, 2, 5});
          copy(middle, other, memory_bytes);
          compare(middle, other, memory_bytes);
          Place last = in_elements(shape, {2, 9, 1});
          copy(other, last, memory_bytes);
          REQUIRE(last.elements->texts == texts);
        }
      }
    }
  }
}

TEST_CASE("A scalar") {
  Place source = in_elements({}, {}, {"only one"s});
  Place chunks = in_chunks({}, {});
  copy(source, chunks);
  CHECK(chunks.chunks->encoded.at(0) == "\1\0\0\0\10\0\0\0only one"s);
  compare(source, chunks);
}

TEST_CASE("Chunks are stored in full, the order of their elements is that of the layout") {
  Place source = in_elements({2, 2}, {2, 2}, {"a"s, "b"s, "c"s, "d"s});
  Place c = in_chunks({2, 2}, {2, 3});
  Place f = in_chunks({2, 2}, {2, 3}, "none", true);
  copy(source, c);
  copy(source, f);
  const auto texts = [](const std::string& stream) {
    std::vector<ElementView> elements;
    split_elements(as_bytes(stream), string_type(), 6, elements);
    std::string all;
    for (const ElementView& e : elements) all += e.size_bytes == 0 ? "-" : std::string(as_text(e.bytes()));
    return all;
  };
  CHECK(texts(c.chunks->encoded.at(0)) == "ab-cd-");
  CHECK(texts(f.chunks->encoded.at(0)) == "acbd--");
}

TEST_CASE("Each source chunk is decoded once where the memory allows it, and a tile bounds the rest") {
  const Shape shape{40, 40};
  Place source = in_chunks(shape, {1, 40}, "zstd:1");
  Place elements = in_elements(shape, {40, 40}, random_texts(shape, 100));
  copy(elements, source);
  Place across = in_chunks(shape, {40, 1}, "zstd:1");
  copy(source, across);
  CHECK(source.chunks->n_reads <= 40 + 1);  // and one to see how long elements are
  source.chunks->n_reads = 0;
  Place small = in_chunks(shape, {40, 1}, "zstd:1");
  copy(source, small, 600 << 10);
  CHECK(source.chunks->n_reads > 41);
  CHECK(small.chunks->encoded == across.chunks->encoded);
}

TEST_CASE("A large chunk that many small ones are taken from is decoded once") {
  const Shape shape{1000};
  Place elements = in_elements(shape, {1000}, random_texts(shape, 100));
  Place source = in_chunks(shape, {1000});
  copy(elements, source);
  Place target = in_chunks(shape, {10});
  copy(source, target, 1 << 20);
  CHECK(source.chunks->n_reads == 1);
  CHECK(target.chunks->encoded.size() == 100);
}

TEST_CASE("What was never written stays so, and chunks of fill are not written") {
  const Shape shape{12};
  Place source = in_elements(shape, {2});
  source.elements->texts[4] = "x";
  source.elements->texts[5] = "";
  source.elements->texts[8] = "";
  source.elements->texts[9] = "";
  source.elements->written = {{2, true}, {4, true}};
  Told told;
  Place target = in_chunks(shape, {2});
  target.chunks->meta.fill = fill_of(ElementView(ByteView()));
  const ElementCopy result = copy(source, target, kPlenty, false, &told);
  CHECK(told.n_stored == 1);
  CHECK(told.n_absent == 5);
  CHECK(target.chunks->encoded.size() == 1);
  CHECK(result.losses.empty());
  compare(source, target);
  // Without a fill that is told, what is written stays written.
  Place untold = in_chunks(shape, {3});
  copy(source, untold, kPlenty, false, &told);
  CHECK(untold.chunks->encoded.size() == 2);
  compare(source, untold);
}

TEST_CASE("A fill that differs is written out") {
  Place source = in_elements({4}, {2});
  source.elements->meta.fill = fill_of(ElementView(as_bytes("n/a")));
  Place target = in_elements({4}, {2});
  copy(source, target);
  CHECK(target.elements->texts == std::vector<Text>(4, "n/a"s));
  CHECK(target.elements->written.size() == 2);
}

TEST_CASE("Null and bytes that are no UTF-8 have no place in encoded chunks") {
  const Shape shape{6};
  Place source = in_elements(shape, {3}, {"a"s, {}, ""s, "gr\xFC\xDF"s, {}, "b"s});
  Place target = in_chunks(shape, {6});
  REQUIRE_ERROR(copy(source, target), Code::unsupported, "the element (1) of /s is null");
  CHECK(target.chunks->encoded.empty());
  const ElementCopy result = copy(source, target, kPlenty, true);
  REQUIRE(result.losses.size() == 2);
  CHECK(result.losses[0].object == "/s");
  CHECK(result.losses[0].what == "2 null elements, the first at (1), became empty ones");
  CHECK(result.losses[1].what == "1 texts that are not UTF-8, the first at (3), were read as Latin-1");
  Place back = in_elements(shape, {6});
  copy(target, back);
  CHECK(back.elements->texts == std::vector<Text>{"a"s, ""s, ""s, "gr\xC3\xBC\xC3\x9F"s, ""s, "b"s});
  compare(source, target);

  Place bytes = in_elements({2}, {2}, {"\xFF"s, "\xFE"s});
  REQUIRE_ERROR(copy(bytes, target), Code::unsupported, "the element (0) of /s is no text in UTF-8");

  // Between formats that know both, both stay.
  Place same = in_elements(shape, {2});
  copy(source, same);
  CHECK(same.elements->texts == source.elements->texts);
}

TEST_CASE("A single difference is found, and so is a chunk that is no longer what was written") {
  const Shape shape{20, 20};
  Place source = in_elements(shape, {20, 20}, random_texts(shape, 30));
  Place target = in_chunks(shape, {7, 7}, "zstd:1");
  const ElementCopy result = copy(source, target);
  CHECK(result.proofs.size() >= 4);  // the corners
  const PlaceReader got(target);
  check_element_proofs(got, target.meta(), result.proofs, work_of(kPlenty));
  source.elements->texts[399] = "changed";
  REQUIRE_ERROR(compare(source, target), Code::mismatch, "element (19, 19) differs");
  target.chunks->encoded.erase(8);
  REQUIRE_ERROR(check_element_proofs(got, target.meta(), result.proofs, work_of(kPlenty)), Code::mismatch,
                "chunk (2 x 2) of /s differs");
  target.chunks->encoded[8] = "no zstd frame";
  REQUIRE_ERROR(check_element_proofs(got, target.meta(), result.proofs, work_of(kPlenty)), Code::mismatch,
                "cannot be read back");
}

TEST_CASE("What does not fit says so, and says where") {
  const Shape shape{100};
  Place source = in_elements(shape, {100}, std::vector<Text>(100, std::string(10000, 'x')));
  Place target = in_chunks(shape, {100}, "zstd:1");
  REQUIRE_ERROR(copy(source, target, 1 << 20), Code::budget, "chunk (0) of /s takes more than");
  copy(source, target);
  // Well packed, but too large when it is decoded.
  Place other = in_chunks(shape, {1});
  REQUIRE_ERROR(copy(target, other, 1 << 20), Code::budget, "the elements of chunk (0) of /s take more than");
  Place one = in_elements({1}, {1}, {std::string(1 << 20, 'x')});
  Place there = in_chunks({1}, {1});
  REQUIRE_ERROR(copy(one, there, 1 << 20), Code::budget, "an element alone");
  // Padding counts as well.
  Place few = in_elements({1}, {1}, {"x"s});
  Place wide = in_chunks({1}, {Index{1} << 40});
  REQUIRE_ERROR(copy(few, wide), Code::budget, "/s");
}

TEST_CASE("Damage in a source is said with its chunk") {
  Place source = in_chunks({4}, {2});
  source.chunks->encoded[0] = "\2\0\0\0\0\0\0\0\0\0\0\0"s;
  source.chunks->encoded[1] = "\3\0\0\0\0\0\0\0\0\0\0\0"s;
  Place target = in_elements({4}, {4});
  REQUIRE_ERROR(copy(source, target), Code::corrupt, "holds 3 elements, not 2: chunk (1) of /s");
}

TEST_CASE("What stands past the end of a shorter source is fill") {
  Place source = in_elements({3}, {2}, {"a"s, "b"s, "c"s});
  source.elements->meta.fill = fill_of(ElementView(as_bytes("?")));
  Place target = in_chunks({6}, {4});
  copy(source, target);
  Place back = in_elements({6}, {6});
  copy(target, back);
  CHECK(back.elements->texts == std::vector<Text>{"a"s, "b"s, "c"s, "?"s, "?"s, "?"s});
}

}  // namespace chunkwise
