#include "array/element_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace chunkwise {
namespace {

// Writes a code point of at most 0x10FFFF; returns the number of bytes.
std::size_t put_utf8(char32_t point, std::byte* out) {
  if (point < 0x80) {
    out[0] = static_cast<std::byte>(point);
    return 1;
  }
  const std::size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  for (std::size_t i = n - 1; i > 0; --i, point >>= 6) out[i] = static_cast<std::byte>(0x80 | (point & 0x3F));
  out[0] = static_cast<std::byte>((0xF00u >> n) | point);
  return n;
}

// Never longer than before: four bytes are enough for any code point.
void to_utf8(MutableByteView element, ByteOrder order) {
  if (order != kNativeOrder) swap_words(sizeof(char32_t), element);
  std::size_t length = 0;
  for (std::size_t at = 0; at + sizeof(char32_t) <= element.size(); at += sizeof(char32_t)) {
    char32_t point = 0;
    std::memcpy(&point, element.data() + at, sizeof point);
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      throw Error(Code::unsupported,
                  fmt::format("a text has {:#x}, which is no character", static_cast<std::uint32_t>(point)));
    length += put_utf8(point, element.data() + length);
  }
  std::fill(element.begin() + static_cast<std::ptrdiff_t>(length), element.end(), std::byte{0});
}

}  // namespace

ElementChange::ElementChange(const ArrayMeta& from, const ArrayMeta& to)
    : from_(from.dtype), to_(to.dtype), order_(from.layout.byte_order) {
  if (from_.kind == DType::Kind::utf32 && to_.kind == DType::Kind::text) kind_ = Kind::utf8;
  DType same_order = from_;
  set_member_order(same_order, kNativeOrder);
  DType wanted = to_;
  set_member_order(wanted, kNativeOrder);
  if (from_.kind == DType::Kind::structured && from_ != to_ && same_order == wanted) kind_ = Kind::member_order;
}

void ElementChange::apply(MutableByteView elements) const {
  switch (kind_) {
    case Kind::none:
      break;
    case Kind::member_order:
      reorder_members(from_, to_, elements);
      break;
    case Kind::utf8:
      for (std::size_t at = 0; at + from_.bytes <= elements.size(); at += from_.bytes)
        to_utf8(elements.subspan(at, from_.bytes), order_);
      break;
  }
}

}  // namespace chunkwise
