// Every copy, fill and comparison of the grid layer against loops that visit one element at a time.
#include "grid/strided_copy.h"

#include <catch2/catch.hpp>

#include "random_boxes.h"

namespace chunkwise {
namespace {

using testing::for_each_position;
using testing::Random;
using Buffer = std::vector<std::byte>;

Index dot(const Shape& a, const Shape& b) {
  Index sum = 0;
  for (int i = 0; i < a.rank(); ++i) sum += a[i] * b[i];
  return sum;
}

void copy_element(const std::byte* src, std::byte* dst, ElementSize element, bool swap) {
  for (std::size_t word = 0; word < element.bytes; word += element.word_bytes) {
    for (std::size_t i = 0; i < element.word_bytes; ++i) {
      dst[word + i] = src[word + (swap ? element.word_bytes - 1 - i : i)];
    }
  }
}

// Strides of a random order, sign and padding, under which no two elements overlap, and the room they need.
struct Place {
  Shape strides;
  Index first = 0;  // offset of position 0, 0, ...
  std::size_t n_bytes = 0;
};
Place random_place(Random& random, const Shape& shape, std::size_t element_bytes) {
  Place place{shape, 0, 0};
  const Shape order = random.permutation(shape.rank());
  auto room = static_cast<Index>(element_bytes);
  for (const Index axis_index : order) {
    const auto axis = static_cast<int>(axis_index);
    if (random.index(0, 3) == 0) room += random.index(0, 20);
    place.strides[axis] = room;
    room *= std::max<Index>(shape[axis], 1);
    if (random.index(0, 3) == 0) {
      place.first += (shape[axis] - 1) * place.strides[axis];
      place.strides[axis] = -place.strides[axis];
    }
  }
  place.n_bytes = static_cast<std::size_t>(room);
  return place;
}

void check_strided(Random& random, const Shape& shape) {
  const ElementSize element = random.element();
  const Place from = random_place(random, shape, element.bytes);
  const Place to = random.coin() ? random_place(random, shape, element.bytes) : from;
  const StridedCopy copy{shape, from.strides, to.strides, element, random.coin()};
  const Buffer src = random.bytes(from.n_bytes);
  Buffer expected = random.bytes(to.n_bytes);
  Buffer actual = expected;
  for_each_position(shape, [&](const Shape& at) {
    copy_element(src.data() + from.first + dot(at, from.strides), expected.data() + to.first + dot(at, to.strides),
                 element, copy.swap);
  });
  copy_strided(copy, src.data() + from.first, actual.data() + to.first);
  INFO("shape " << to_string(shape) << ", src strides " << to_string(from.strides) << ", dst strides "
                << to_string(to.strides) << ", element " << element.bytes << "/" << element.word_bytes << ", swap "
                << copy.swap);
  REQUIRE(actual == expected);
}

TEST_CASE("copy_strided equals a loop over elements") {
  Random random(20240601);
  for (int i = 0; i < 4000; ++i) {
    Shape shape = random.shape(random.rank(6));
    while (product(shape) > 20000) shape = random.shape(shape.rank());
    check_strided(random, shape);
  }
}

TEST_CASE("copy_strided of long axes, across tiles and blocks") {
  Random random(7);
  for (int i = 0; i < 120; ++i) {
    check_strided(random, {random.index(1, 200), random.index(1, 200)});
    check_strided(random, {random.index(1, 70), random.index(1, 12), random.index(60, 70)});
  }
}

TEST_CASE("copy_strided of 32 axes") {
  Random random(32);
  for (int i = 0; i < 40; ++i) {
    Shape shape = Shape::filled(kMaxRank, 1);
    for (int n_long = 0; n_long < 11; ++n_long) shape[static_cast<int>(random.index(0, kMaxRank - 1))] = 2;
    check_strided(random, shape);
  }
  // No axis has length 1 and none can merge: the element of two words is the 33rd axis.
  Shape shape = Shape::filled(kMaxRank, 1);
  for (int axis = 0; axis < 14; ++axis) shape[axis * 2] = 2;
  check_strided(random, shape);
}

TEST_CASE("copy_strided of nothing touches nothing") {
  std::byte unreadable{};
  StridedCopy copy{{3, 0}, {4, 4}, {4, 4}, {4, 4}, false};
  copy_strided(copy, nullptr, nullptr);
  copy = StridedCopy{{}, {}, {}, {1, 1}, false};
  const std::byte value{7};
  copy_strided(copy, &value, &unreadable);
  REQUIRE(unreadable == value);
}

TEST_CASE("copy_strided repeats a source whose stride is 0") {
  const std::uint32_t value = 0x01020304;
  std::vector<std::uint32_t> out(60);
  copy_strided({{3, 20}, {0, 0}, {80, 4}, {4, 4}, true}, reinterpret_cast<const std::byte*>(&value),
               reinterpret_cast<std::byte*>(out.data()));
  REQUIRE(out == std::vector<std::uint32_t>(60, 0x04030201));
}

// Offset of an element in a dense buffer over `box`.
Index offset_in(const Box& box, const ElementLayout& layout, std::size_t element_bytes, const Shape& at) {
  Index offset = 0;
  for (int place = 0; place < box.origin.rank(); ++place) {
    const int axis = layout.axes.rank() == 0 ? place : static_cast<int>(layout.axes[place]);
    offset = offset * box.shape[axis] + at[axis] - box.origin[axis];
  }
  return offset * static_cast<Index>(element_bytes);
}

Shape sum(const Shape& a, const Shape& b) {
  Shape total = a;
  for (int i = 0; i < a.rank(); ++i) total[i] += b[i];
  return total;
}

Box random_part(Random& random, int rank, Index most) {
  Box part{Shape::filled(rank, 0), random.shape(rank)};
  for (Index& origin : part.origin) origin = random.index(0, 50);
  while (product(random.around(part, most).shape) > 20000) part.shape = random.shape(rank);
  return part;
}

TEST_CASE("copy_box equals a loop over elements") {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const int rank = random.rank(6);
    BoxCopy copy;
    copy.part = random_part(random, rank, 2);
    copy.src_box = random.around(copy.part, 2);
    copy.dst_box = random.around(copy.part, 2);
    copy.src_layout = random.layout(rank);
    copy.dst_layout = random.layout(rank);
    copy.element = random.element();
    const Buffer src = random.bytes(static_cast<std::size_t>(product(copy.src_box.shape)) * copy.element.bytes);
    Buffer expected = random.bytes(static_cast<std::size_t>(product(copy.dst_box.shape)) * copy.element.bytes);
    Buffer actual = expected;
    for_each_position(copy.part.shape, [&](const Shape& at) {
      const Shape position = sum(copy.part.origin, at);
      copy_element(src.data() + offset_in(copy.src_box, copy.src_layout, copy.element.bytes, position),
                   expected.data() + offset_in(copy.dst_box, copy.dst_layout, copy.element.bytes, position),
                   copy.element, copy.src_layout.byte_order != copy.dst_layout.byte_order);
    });
    copy_box(copy, src.data(), actual.data());
    INFO("part " << to_string(copy.part.shape) << " at " << to_string(copy.part.origin));
    REQUIRE(actual == expected);
  }
}

TEST_CASE("fill_outside equals a loop over elements") {
  Random random(4);
  for (int i = 0; i < 3000; ++i) {
    const int rank = random.rank(6);
    const Box part = random_part(random, rank, 3);
    const Box box = random.around(part, 3);
    Box inner = part;
    if (rank > 0 && random.index(0, 9) == 0) inner.shape[0] = 0;
    if (rank > 0 && random.index(0, 9) == 0) inner = random.around(box, 1);
    const ElementLayout layout = random.layout(rank);
    const std::size_t element_bytes = random.element().bytes;
    const Buffer element = random.bytes(element_bytes);
    Buffer expected = random.bytes(static_cast<std::size_t>(product(box.shape)) * element_bytes);
    Buffer actual = expected;
    for_each_position(box.shape, [&](const Shape& at) {
      const Shape position = sum(box.origin, at);
      if (contains(inner, {position, Shape::filled(rank, 1)}) && !inner.empty()) return;
      std::copy(element.begin(), element.end(), expected.begin() + offset_in(box, layout, element_bytes, position));
    });
    fill_outside(box, inner, layout, element, actual.data());
    INFO("box " << to_string(box.shape) << " at " << to_string(box.origin) << ", inner " << to_string(inner.shape)
                << " at " << to_string(inner.origin));
    REQUIRE(actual == expected);
  }
}

TEST_CASE("fill_elements and all_equal agree with a loop") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t element_bytes = random.element().bytes;
    const Buffer element = random.index(0, 3) == 0 ? Buffer(element_bytes) : random.bytes(element_bytes);
    const auto n = static_cast<std::size_t>(random.index(0, random.coin() ? 8 : 3000));
    Buffer data = random.bytes(n * element_bytes);
    fill_elements(data, element);
    for (std::size_t k = 0; k < data.size(); ++k) REQUIRE(data[k] == element[k % element_bytes]);
    REQUIRE(all_equal(data, element));
    if (data.empty()) continue;
    const auto at = static_cast<std::size_t>(random.index(0, static_cast<Index>(data.size()) - 1));
    data[at] ^= std::byte{1};
    REQUIRE_FALSE(all_equal(data, element));
  }
}

TEST_CASE("An empty element stands for zero bytes") {
  Buffer data(1000, std::byte{1});
  REQUIRE_FALSE(all_equal(data, {}));
  fill_elements(data, {});
  REQUIRE(data == Buffer(1000));
  REQUIRE(all_equal(data, {}));
  REQUIRE(all_equal({}, {}));
}

}  // namespace
}  // namespace chunkwise
