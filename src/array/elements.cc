#include "array/elements.h"

#include <cstring>

namespace chunkwise {
namespace {

constexpr std::byte kNowhere{};

}  // namespace

ElementView::ElementView(ByteView bytes) : data(bytes.data()), size_bytes(bytes.size()) {
  if (data == nullptr) data = &kNowhere;
}

bool operator==(const ElementView& a, const ElementView& b) {
  if (a.is_null() != b.is_null() || a.size_bytes != b.size_bytes) return false;
  return a.size_bytes == 0 || std::memcmp(a.data, b.data, static_cast<std::size_t>(a.size_bytes)) == 0;
}

std::vector<std::byte> fill_of(const ElementView& element) {
  if (element.is_null()) return {};
  std::vector<std::byte> fill(element.data, element.data + element.size_bytes);
  fill.push_back(std::byte{0});
  return fill;
}

ElementView fill_element(const ArrayMeta& meta) {
  return meta.fill.empty() ? ElementView() : ElementView(ByteView(meta.fill).first(meta.fill.size() - 1));
}

}  // namespace chunkwise
