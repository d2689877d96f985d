#include "format/netcdf3/header.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <random>

#include "../base/throws_code.h"
#include "../store/scratch_directory.h"
#include "format/netcdf3/format.h"

namespace chunkwise::netcdf3 {
namespace {

using chunkwise::testing::ScratchDirectory;
using chunkwise::testing::write_file;

class MemoryObject final : public Object {
 public:
  explicit MemoryObject(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  void read(std::uint64_t offset, MutableByteView out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) throw Error(Code::corrupt, "past the end");
    std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  std::string bytes_;
};

std::string be(std::uint64_t value, int n_bytes) {
  std::string text;
  for (int i = n_bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i));
  return text;
}

std::string name(const std::string& text, int word_bytes = 4) {
  return be(text.size(), word_bytes) + text + std::string((4 - text.size() % 4) % 4, '\0');
}

/// CDF-1 by hand: dimensions t (unlimited) and x (3); @a = 7s; byte v(t, x); float w(t); char c(x). Two records.
struct Golden {
  std::string n_records = be(2, 4);
  std::string dimension_tag = be(0x0A, 4);
  std::string n_dimensions = be(2, 4);
  std::string t = name("t") + be(0, 4);
  std::string x = name("x") + be(3, 4);
  std::string attributes = be(0x0C, 4) + be(1, 4) + name("a") + be(3, 4) + be(1, 4) + be(7, 2) + be(0, 2);
  std::string n_variables = be(0x0B, 4) + be(3, 4);
  std::string v_name = name("v");
  std::string v_dimensions = be(2, 4) + be(0, 4) + be(1, 4);
  std::string v_rest = be(0, 8) + be(1, 4) + be(4, 4);
  std::string w = name("w") + be(1, 4) + be(0, 4) + be(0, 8) + be(5, 4) + be(4, 4);
  std::string c = name("c") + be(1, 4) + be(1, 4) + be(0, 8) + be(2, 4) + be(4, 4);
  std::string data = std::string("abc\0", 4) + std::string("\1\2\3\x81", 4) + be(0x3f800000, 4) +
                     std::string("\4\5\6\x81", 4) + be(0x40000000, 4);
  std::uint64_t v_begin = 192;

  std::string bytes() const {
    std::string header = "CDF\1" + n_records + dimension_tag + n_dimensions + t + x + attributes + n_variables;
    header += v_name + v_dimensions + v_rest + be(v_begin, 4) + w + be(196, 4) + c + be(188, 4);
    return header + data;
  }
};

Header read_bytes(const std::string& bytes) {
  return read_header(MemoryObject(bytes));
}

}  // namespace

TEST_CASE("a classic header is read and printed as it is") {
  const Golden golden;
  Header header = read_bytes(golden.bytes());
  CHECK(header.version == 1);
  CHECK(header.n_records == 2);
  CHECK(header.size_bytes == 188);
  REQUIRE(header.dimensions.size() == 2);
  CHECK(header.dimensions[0].unlimited);
  CHECK(header.dimensions[0].length == 2);
  REQUIRE(header.attributes.size() == 1);
  CHECK(header.attributes[0].value.dtype == DType{DType::Kind::int_, 2, {}, false});
  CHECK(header.record_bytes == 8);
  const Place v = header.variables[0].place;
  CHECK(v.begin_bytes == 192);
  CHECK(v.slab_bytes == 3);
  CHECK(v.padding_bytes == 1);
  CHECK(v.stride_bytes == 8);
  CHECK(v.n_slabs == 2);
  CHECK(print_header(header) == golden.bytes().substr(0, 188));
  CHECK(lay_out(header) == golden.bytes().size());
  CHECK(print_header(header) == golden.bytes().substr(0, 188));
  CHECK(least_version(header) == 1);
}

TEST_CASE("records that are still being written are counted by the file's size") {
  Golden golden;
  golden.n_records = be(0xFFFFFFFF, 4);
  CHECK(read_bytes(golden.bytes()).n_records == 2);
  CHECK(read_bytes(golden.bytes().substr(0, 207)).n_records == 1);
  CHECK(read_bytes(golden.bytes().substr(0, 192)).n_records == 0);
}

TEST_CASE("malformed classic headers are refused") {
  const std::vector<std::pair<const char*, std::function<void(Golden&)>>> cases = {
      {"dimensions", [](Golden& g) { g.n_dimensions = be(0x7fffffff, 4); }},
      {"starts with", [](Golden& g) { g.dimension_tag = be(0x0B, 4); }},
      {"starts with", [](Golden& g) { g.dimension_tag = be(0, 4); }},
      {"name", [](Golden& g) { g.x = be(0x7fffffff, 4) + be(3, 4); }},
      {"no name", [](Golden& g) { g.x = be(0, 4) + be(3, 4); }},
      {"cannot be one", [](Golden& g) { g.x = name("/") + be(3, 4); }},
      {"not UTF-8", [](Golden& g) { g.x = name("\xff") + be(3, 4); }},
      {"not UTF-8", [](Golden& g) { g.x = name("\xed\xa0\x80") + be(3, 4); }},
      {"cannot be one", [](Golden& g) { g.x = name(std::string("a\0b", 3)) + be(3, 4); }},
      {"unlimited", [](Golden& g) { g.x = name("x") + be(0, 4); }},
      {"called t", [](Golden& g) { g.x = name("t") + be(3, 4); }},
      {"called v", [](Golden& g) { g.w = name("v") + be(1, 4) + be(0, 4) + be(0, 8) + be(5, 4) + be(4, 4); }},
      {"type", [](Golden& g) { g.attributes = be(0x0C, 4) + be(1, 4) + name("a") + be(7, 4) + be(0, 4); }},
      {"type", [](Golden& g) { g.v_rest = be(0, 8) + be(0, 4) + be(4, 4); }},
      {"attribute a",
       [](Golden& g) { g.attributes = be(0x0C, 4) + be(1, 4) + name("a") + be(6, 4) + be(1u << 30, 4); }},
      {"attributes", [](Golden& g) { g.attributes = be(0x0C, 4) + be(1u << 31, 4); }},
      {"variables", [](Golden& g) { g.n_variables = be(0x0B, 4) + be(400, 4); }},
      {"dimension 7 of 2", [](Golden& g) { g.v_dimensions = be(1, 4) + be(7, 4); }},
      {"not the first", [](Golden& g) { g.v_dimensions = be(2, 4) + be(1, 4) + be(0, 4); }},
      {"not the first", [](Golden& g) { g.v_dimensions = be(2, 4) + be(0, 4) + be(0, 4); }},
      {"do not fit", [](Golden& g) { g.v_dimensions = be(0x7fffffff, 4); }},
      {"inside the header", [](Golden& g) { g.v_begin = 100; }},
      {"2^63", [](Golden& g) {
         g.x = name("x") + be(0xffffffff, 4);
         g.v_dimensions = be(4, 4) + be(0, 4) + be(1, 4) + be(1, 4) + be(1, 4);
         g.v_begin = 5000;
       }}};
  for (const auto& [says, damage] : cases) {
    Golden golden;
    damage(golden);
    INFO(says);
    CHECK_THROWS_MATCHES(read_bytes(golden.bytes()), Error, chunkwise::testing::HasCode(Code::corrupt, says));
  }
  const std::string whole = Golden().bytes();
  for (std::size_t n = 0; n < 188; ++n)
    CHECK_THROWS_MATCHES(read_bytes(whole.substr(0, n)), Error, chunkwise::testing::HasCode(Code::corrupt));
  for (const int version : {0, 3, 4, 6}) {
    std::string bytes = whole;
    bytes[3] = static_cast<char>(version);
    CHECK_THROWS_MATCHES(read_bytes(bytes), Error, chunkwise::testing::HasCode(Code::corrupt));
  }
  // More axes than we have are no damage.
  Golden golden;
  golden.v_dimensions = be(33, 4);
  for (int i = 0; i < 33; ++i) golden.v_dimensions += be(1, 4);
  CHECK_THROWS_MATCHES(read_bytes(golden.bytes()), Error, chunkwise::testing::HasCode(Code::unsupported));
}

TEST_CASE("any header, however damaged, is read or refused") {
  const ScratchDirectory folder;
  const std::string whole = Golden().bytes();
  std::mt19937 random(7);
  const std::vector<std::string> evil = {be(0xffffffff, 4), be(0x7fffffff, 4), be(0x80000000, 4), be(0, 4), be(1, 4),
                                         be(0x0A, 4),       be(0x0B, 4),       be(0x0C, 4),       be(64, 4)};
  int n_read = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string bytes = whole;
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = 4 + random() % 184;
      if (random() % 2 == 0)
        bytes.replace(at / 4 * 4, 4, evil[random() % evil.size()]);
      else
        bytes[at] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes[3] = static_cast<char>(random() % 2 == 0 ? 2 : 5);
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    const std::string path = folder / "a.nc";
    write_file(path, bytes);
    try {
      const auto reader = open(path);
      for (const ArrayNode& node : reader->tree().arrays) {
        const auto source = reader->open_array(node.meta.path);
        ReadBatch batch;
        if (source->grid().n_chunks() > 0) source->read(std::vector<ChunkId>{ChunkId{0}}, batch);
      }
      ++n_read;
    } catch (const Error& error) {
      const bool is_refusal = error.code() == Code::corrupt || error.code() == Code::unsupported;
      CHECK(is_refusal);
    }
  }
  CHECK(n_read > 100);
}

TEST_CASE("the least version that can hold a file is chosen") {
  const std::uint64_t gib = std::uint64_t{1} << 30;
  const auto version_of = [&](std::vector<std::uint64_t> slabs, bool records, NcType type = NcType::i1) {
    Header header;
    header.dimensions.push_back({"t", 5, true});
    header.n_records = 5;
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      // Two axes, as one may not be longer than 2^31.
      header.dimensions.push_back({"a" + std::to_string(i), static_cast<Index>(slabs[i] / 4), false});
      header.dimensions.push_back({"b" + std::to_string(i), 4, false});
      Variable variable;
      variable.name = "v" + std::to_string(i);
      variable.type = type;
      if (records) variable.dimensions.push_back(0);
      variable.dimensions.push_back(2 * i + 1);
      variable.dimensions.push_back(2 * i + 2);
      header.variables.push_back(variable);
    }
    measure(header);
    return least_version(header);
  };
  for (const bool records : {false, true}) {
    CHECK(version_of({400, 400}, records) == 1);
    CHECK(version_of({400, 3 * gib}, records) == 1);
    CHECK(version_of({3 * gib, 400}, records) == 2);
    CHECK(version_of({gib, gib, gib}, records) == 2);
    CHECK(version_of({400, 5 * gib}, records) == 1);
    CHECK(version_of({5 * gib, 400}, records) == 5);
    CHECK(version_of({400}, records, NcType::u2) == 5);
  }
  Header header;
  header.dimensions.push_back({"x", Index{1} << 31, false});
  CHECK(least_version(header) == 2);
  header.dimensions.push_back({"y", Index{1} << 32, false});
  CHECK(least_version(header) == 5);
  Attribute wide;
  wide.name = "a";
  wide.value.kind = AttributeValue::Kind::numbers;
  wide.value.dtype = DType{DType::Kind::int_, 8, {}, false};
  wide.value.shape = Shape{1};
  wide.value.data.resize(8);
  Header with_attribute;
  with_attribute.attributes.push_back(wide);
  CHECK(least_version(with_attribute) == 5);
}

TEST_CASE("records are put together from their places, however they are cut") {
  const ScratchDirectory folder;
  for (const Index inner : {1, 3, 5000, 70000}) {
    // Two record variables of bytes: what is read of one must not be of the other.
    Hierarchy tree;
    GroupNode root;
    root.path = "/";
    const Index n_records = 40;
    root.dimensions = {{"t", n_records, true}, {"x", inner, false}};
    tree.groups.push_back(root);
    for (const char* path : {"/a", "/b"}) {
      ArrayNode node;
      node.meta.path = path;
      node.meta.dtype = DType{DType::Kind::int_, 1, {}, false};
      node.meta.shape = Shape{n_records, inner};
      node.meta.max_shape = Shape{kUnlimited, inner};
      node.meta.dims = {"t", "x"};
      node.meta.chunk = Shape{7, inner};
      node.meta.n_stored_chunks = node.meta.grid().n_chunks();
      tree.arrays.push_back(node);
    }
    AdaptReport report;
    adapt(tree, report);
    REQUIRE(report.losses.empty());
    const std::string path = folder / ("r" + std::to_string(inner));
    {
      const auto writer = create(path, tree);
      for (const char* array : {"/a", "/b"}) {
        const auto sink = writer->open_array(array);
        for (Index id = sink->grid().n_chunks() - 1; id >= 0; --id) {
          const Box box = sink->grid().box(ChunkId{id});
          Bytes bytes(static_cast<std::size_t>(product(box.shape)));
          for (std::size_t i = 0; i < bytes.size(); ++i) {
            const Index element = box.origin[0] * inner + box.origin[1] + static_cast<Index>(i);
            bytes.data()[i] = static_cast<std::byte>(element % 101 + (array[1] == 'a' ? 0 : 128));
          }
          sink->write(ChunkId{id}, {bytes.view(), 0, false});
          sink->write(ChunkId{id}, {bytes.view(), 0, false});
        }
      }
      writer->finish();
    }
    const auto reader = open(path);
    for (const char* array : {"/a", "/b"}) {
      const auto source = reader->open_array(array);
      for (const Shape& chunk :
           {Shape{1, inner}, Shape{3, inner}, Shape{n_records, inner}, Shape{1, (inner + 1) / 2}}) {
        const auto cut = cut_linear(*source, chunk);
        std::vector<ChunkId> ids;
        for (Index id = 0; id < cut->grid().n_chunks(); ++id) ids.push_back(ChunkId{id});
        std::shuffle(ids.begin(), ids.end(), std::mt19937(3));
        ReadBatch batch;
        cut->read(ids, batch);
        bool same = true;
        for (std::size_t k = 0; k < ids.size(); ++k) {
          const Box box = cut->grid().box(ids[k]);
          REQUIRE(batch.chunks[k].bytes.size() == static_cast<std::size_t>(product(box.shape)));
          for (std::size_t i = 0; i < batch.chunks[k].bytes.size(); ++i) {
            const Index element = box.origin[0] * inner + box.origin[1] + static_cast<Index>(i);
            same =
                same && batch.chunks[k].bytes[i] == static_cast<std::byte>(element % 101 + (array[1] == 'a' ? 0 : 128));
          }
        }
        CHECK(same);
      }
    }
  }
}

}  // namespace chunkwise::netcdf3
