#include "array/meta.h"

#include <fmt/format.h>

#include <limits>

#include "base/checked.h"
#include "base/error.h"

namespace chunkwise {
namespace {

// C order has two spellings: no axes, and 0, 1, 2, ...
bool same_axes(const Shape& a, const Shape& b, int rank) {
  for (int i = 0; i < rank; ++i) {
    if ((a.rank() == 0 ? i : a[i]) != (b.rank() == 0 ? i : b[i])) return false;
  }
  return true;
}

}  // namespace

std::size_t ArrayMeta::chunk_bytes() const {
  const auto elements = checked_product(chunk);
  const auto bytes =
      elements ? checked_mul(static_cast<std::uint64_t>(*elements), std::uint64_t{dtype.bytes}) : std::nullopt;
  if (!bytes || *bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw Error(Code::corrupt, fmt::format("a chunk of {} elements of {} bytes is larger than 2^63 bytes",
                                           to_string(chunk), dtype.bytes))
        .in(path);
  }
  return static_cast<std::size_t>(*bytes);
}

Elements codec_elements(const ArrayMeta& meta) {
  ElementKind kind = ElementKind::opaque;
  if (meta.dtype.kind == DType::Kind::boolean) kind = ElementKind::boolean;
  if (meta.dtype.kind == DType::Kind::int_) kind = ElementKind::int_;
  if (meta.dtype.kind == DType::Kind::uint) kind = ElementKind::uint;
  if (meta.dtype.kind == DType::Kind::float_) kind = ElementKind::float_;
  return {kind, meta.dtype.codec_bytes(), meta.layout.byte_order};
}

void set_byte_order(ArrayMeta& meta, ByteOrder order) {
  if (meta.layout.byte_order == order) return;
  meta.layout.byte_order = order;
  swap_words(meta.dtype, meta.fill);
}

bool same_encoding(const ArrayMeta& a, const ArrayMeta& b) {
  if (a.storage != b.storage || !(a.dtype == b.dtype) || !(a.shape == b.shape) || !(a.chunk == b.chunk)) return false;
  if (!same_axes(a.layout.axes, b.layout.axes, a.shape.rank())) return false;
  const std::size_t word_bytes = std::max(a.dtype.element().word_bytes, a.dtype.item_bytes);
  if (a.layout.byte_order != b.layout.byte_order && word_bytes > 1) return false;
  return a.codecs == b.codecs && a.pads_edges == b.pads_edges && a.raw_edges == b.raw_edges;
}

}  // namespace chunkwise
