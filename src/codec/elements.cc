#include "codec/elements.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace chunkwise {
namespace {

struct KindName {
  ElementKind kind;
  char letter;
  std::string_view word;
};

constexpr KindName kKindNames[] = {
    {ElementKind::boolean, 'b', "bool"},
    {ElementKind::int_, 'i', "int"},
    {ElementKind::uint, 'u', "uint"},
    {ElementKind::float_, 'f', "float"},
};

bool exists(ElementKind kind, std::size_t bytes) {
  if (kind == ElementKind::boolean) return bytes == 1;
  return (bytes == 1 && kind != ElementKind::float_) || bytes == 2 || bytes == 4 || bytes == 8;
}

std::optional<std::size_t> parse_size(std::string_view digits) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return size;
}

}  // namespace

std::optional<Elements> parse_elements(std::string_view name) {
  Elements elements;
  if (name == "bool" || name == "?" || name == "|?") return Elements{ElementKind::boolean, 1, kNativeOrder};
  for (const KindName& known : kKindNames) {
    if (known.kind == ElementKind::boolean || !name.starts_with(known.word)) continue;
    const auto bits = parse_size(name.substr(known.word.size()));
    if (!bits || *bits % 8 != 0 || !exists(known.kind, *bits / 8)) return std::nullopt;
    return Elements{known.kind, *bits / 8, kNativeOrder};
  }
  if (name.empty()) return std::nullopt;
  if (name[0] == '<') elements.byte_order = ByteOrder::little;
  if (name[0] == '>') elements.byte_order = ByteOrder::big;
  if (name[0] == '<' || name[0] == '>' || name[0] == '|' || name[0] == '=') name.remove_prefix(1);
  for (const KindName& known : kKindNames) {
    if (name.empty() || name[0] != known.letter) continue;
    const auto bytes = parse_size(name.substr(1));
    if (!bytes || !exists(known.kind, *bytes)) return std::nullopt;
    elements.kind = known.kind;
    elements.bytes = *bytes;
    // Bytes have no order.
    if (elements.bytes == 1) elements.byte_order = kNativeOrder;
    return elements;
  }
  return std::nullopt;
}

std::string to_string(const Elements& elements) {
  const char order = elements.bytes == 1 ? '|' : elements.byte_order == ByteOrder::little ? '<' : '>';
  for (const KindName& known : kKindNames) {
    if (known.kind == elements.kind) return fmt::format("{}{}{}", order, known.letter, elements.bytes);
  }
  CHUNKWISE_CHECK(elements.kind != ElementKind::opaque);
  return {};
}

bool survives_cast(const Elements& from, const Elements& to) {
  if (from.kind == ElementKind::boolean) return true;
  if (to.kind == ElementKind::boolean) return false;
  if (from.kind == ElementKind::float_) return to.kind == ElementKind::float_ && to.bytes >= from.bytes;
  // Integers wrap around, and back.
  if (to.kind != ElementKind::float_) return to.bytes >= from.bytes;
  const std::size_t digits = to.bytes == 2 ? 11 : to.bytes == 4 ? 24 : 53;
  return 8 * from.bytes <= digits + (from.kind == ElementKind::int_ ? 1 : 0);
}

}  // namespace chunkwise
