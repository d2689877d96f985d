#include "grid/content_sum.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace chunkwise {
namespace {

constexpr std::size_t kWord_bytes = sizeof(std::uint64_t);

/// One to one in `difference`, and 0 of 0: multiplications by odd numbers and shifts into itself lose nothing.
inline std::uint64_t mix(std::uint64_t difference, std::uint64_t place) {
  std::uint64_t key = (place + 1) * 0x9E3779B97F4A7C15ULL;
  key ^= key >> 29;
  std::uint64_t x = difference * 0xD6E8FEB86659FD93ULL;
  x ^= x >> 32;
  x *= key | 1;
  return x ^ (x >> 29);
}

inline std::uint8_t swapped(std::uint8_t value) {
  return value;
}
inline std::uint16_t swapped(std::uint16_t value) {
  return __builtin_bswap16(value);
}
inline std::uint32_t swapped(std::uint32_t value) {
  return __builtin_bswap32(value);
}
inline std::uint64_t swapped(std::uint64_t value) {
  return __builtin_bswap64(value);
}

/// A row of elements of one word each.
template <typename Word>
std::uint64_t sum_row(const std::byte* at, Index stride_bytes, Index n, std::uint64_t place, const std::byte* fill,
                      bool swap) {
  Word nothing;
  std::memcpy(&nothing, fill, sizeof nothing);
  std::uint64_t sum = 0;
  for (Index i = 0; i < n; ++i, at += stride_bytes, ++place) {
    Word value;
    std::memcpy(&value, at, sizeof value);
    if (swap) value = swapped(value);
    sum += mix(static_cast<std::uint64_t>(value) ^ nothing, place);
  }
  return sum;
}

/// An element in this machine's order.
void copy_in_order(const std::byte* at, ElementSize element, bool swap, std::byte* out) {
  std::memcpy(out, at, element.bytes);
  if (!swap) return;
  for (std::size_t word = 0; word + element.word_bytes <= element.bytes; word += element.word_bytes)
    std::reverse(out + word, out + word + element.word_bytes);
}

/// A row of elements of any size, taken eight bytes at a time.
std::uint64_t sum_long_row(const std::byte* at, Index stride_bytes, Index n, std::uint64_t place, ElementSize element,
                           const std::byte* fill, bool swap) {
  const std::size_t n_words = (element.bytes + kWord_bytes - 1) / kWord_bytes;
  Bytes one(element.bytes);
  std::uint64_t sum = 0;
  for (Index i = 0; i < n; ++i, at += stride_bytes, ++place) {
    copy_in_order(at, element, swap, one.data());
    for (std::size_t word = 0; word < n_words; ++word) {
      const std::size_t begin = word * kWord_bytes;
      const std::size_t length = std::min(kWord_bytes, element.bytes - begin);
      std::uint64_t value = 0;
      std::uint64_t nothing = 0;
      std::memcpy(&value, one.data() + begin, length);
      std::memcpy(&nothing, fill + begin, length);
      sum += mix(value ^ nothing, place * n_words + word);
    }
  }
  return sum;
}

}  // namespace

ContentSum::ContentSum(const Shape& array, ElementSize element, ByteView fill, ByteOrder order)
    : array_(array), element_(element), fill_(element.bytes) {
  std::fill(fill_.span().begin(), fill_.span().end(), std::byte{0});
  if (!fill.empty()) copy_in_order(fill.data(), element, order != kNativeOrder, fill_.data());
}

std::uint64_t ContentSum::of(const Box& part, const Box& box, const ElementLayout& layout,
                             const std::byte* buffer) const {
  if (part.empty()) return 0;
  const int rank = part.shape.rank();
  const Shape strides = dense_strides_bytes(box.shape, layout.axes, element_.bytes);
  const bool swap = layout.byte_order != kNativeOrder;
  const auto row = [&](const std::byte* at, Index stride_bytes, Index n, std::uint64_t place) {
    if (element_.bytes == element_.word_bytes) {
      switch (element_.bytes) {
        case 1:
          return sum_row<std::uint8_t>(at, stride_bytes, n, place, fill_.data(), swap);
        case 2:
          return sum_row<std::uint16_t>(at, stride_bytes, n, place, fill_.data(), swap);
        case 4:
          return sum_row<std::uint32_t>(at, stride_bytes, n, place, fill_.data(), swap);
        case 8:
          return sum_row<std::uint64_t>(at, stride_bytes, n, place, fill_.data(), swap);
        default:
          break;
      }
    }
    return sum_long_row(at, stride_bytes, n, place, element_, fill_.data(), swap);
  };
  if (rank == 0) return row(buffer, 0, 1, 0);
  std::uint64_t sum = 0;
  Shape at = part.origin;
  for (;;) {
    Index offset_bytes = 0;
    Index place = 0;
    for (int axis = 0; axis < rank; ++axis) {
      offset_bytes += (at[axis] - box.origin[axis]) * strides[axis];
      place = place * array_[axis] + at[axis];
    }
    sum += row(buffer + offset_bytes, strides[rank - 1], part.shape[rank - 1], static_cast<std::uint64_t>(place));
    int axis = rank - 2;
    while (axis >= 0 && ++at[axis] == part.origin[axis] + part.shape[axis]) {
      at[axis] = part.origin[axis];
      --axis;
    }
    if (axis < 0) return sum;
  }
}

}  // namespace chunkwise
