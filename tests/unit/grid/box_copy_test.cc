// Examples by hand; tests/property/grid has the rest.
#include <catch2/catch.hpp>

#include <vector>

#include "../base/throws_code.h"
#include "grid/strided_copy.h"

namespace chunkwise {
namespace {

TEST_CASE("Strides of dense buffers") {
  CHECK(dense_strides_bytes({2, 3, 4}, {}, 8) == Shape{96, 32, 8});
  CHECK(dense_strides_bytes({2, 3, 4}, {2, 1, 0}, 8) == Shape{8, 16, 48});
  CHECK(dense_strides_bytes({2, 3, 4}, {1, 2, 0}, 1) == Shape{1, 8, 2});
  CHECK(dense_strides_bytes({}, {}, 4) == Shape{});
  REQUIRE_ERROR(dense_strides_bytes({2, 3}, {0, 0}, 8), Code::internal);
  REQUIRE_ERROR(dense_strides_bytes({2, 3}, {0}, 8), Code::internal);
  REQUIRE_ERROR(dense_strides_bytes({2, 3}, {0, 2}, 8), Code::internal);
}

TEST_CASE("A part is cut out, turned and swapped in one copy") {
  const std::vector<std::uint16_t> src = {0x0100, 0x0101, 0x0102,   // row 0
                                          0x0110, 0x0111, 0x0112};  // row 1
  std::vector<std::uint16_t> dst(4, 0xFFFF);
  BoxCopy copy;
  copy.src_box = {{10, 20}, {2, 3}};
  copy.part = {{10, 21}, {2, 2}};
  copy.dst_box = copy.part;
  copy.dst_layout = {{1, 0}, ByteOrder::big};
  copy.element = {2, 2};
  copy_box(copy, reinterpret_cast<const std::byte*>(src.data()), reinterpret_cast<std::byte*>(dst.data()));
  CHECK(dst == std::vector<std::uint16_t>{0x0101, 0x1101, 0x0201, 0x1201});
  copy.part = {{10, 22}, {2, 2}};
  REQUIRE_ERROR(copy_box(copy, nullptr, nullptr), Code::internal);
}

TEST_CASE("Edge padding") {
  std::vector<std::uint8_t> data(12, 1);
  const std::byte fill{9};
  fill_outside({{0, 0}, {3, 4}}, {{0, 0}, {2, 3}}, {}, {&fill, 1}, reinterpret_cast<std::byte*>(data.data()));
  CHECK(data == std::vector<std::uint8_t>{1, 1, 1, 9, 1, 1, 1, 9, 9, 9, 9, 9});
  REQUIRE_ERROR(fill_outside({}, {}, {}, {}, nullptr), Code::internal);
}

}  // namespace
}  // namespace chunkwise
