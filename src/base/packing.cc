#include "base/packing.h"

#include "base/error.h"

namespace chunkwise {

std::uint64_t Unpacker::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) throw Error(Code::corrupt, "packed numbers end early");
    const auto group = std::to_integer<std::uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    if (shift == 63 && group > 1) break;
    value |= (group & 0x7fU) << shift;
    if (group < 0x80) return value;
  }
  throw Error(Code::corrupt, "a packed number is too large");
}

ByteView Unpacker::bytes() {
  const std::uint64_t size = number();
  if (size > rest_.size()) throw Error(Code::corrupt, "packed bytes end early");
  const ByteView found = rest_.first(static_cast<std::size_t>(size));
  rest_ = rest_.subspan(found.size());
  return found;
}

}  // namespace chunkwise
