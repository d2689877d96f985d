#include "array/dtype.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace chunkwise {
namespace {

struct NamedType {
  std::string_view short_name;
  std::string_view numpy_name;
  DType::Kind kind;
  std::size_t bytes;
};

constexpr std::array<NamedType, 12> kNamedTypes{{
    {"bool", "bool", DType::Kind::boolean, 1},
    {"i1", "int8", DType::Kind::int_, 1},
    {"i2", "int16", DType::Kind::int_, 2},
    {"i4", "int32", DType::Kind::int_, 4},
    {"i8", "int64", DType::Kind::int_, 8},
    {"u1", "uint8", DType::Kind::uint, 1},
    {"u2", "uint16", DType::Kind::uint, 2},
    {"u4", "uint32", DType::Kind::uint, 4},
    {"u8", "uint64", DType::Kind::uint, 8},
    {"f2", "float16", DType::Kind::float_, 2},
    {"f4", "float32", DType::Kind::float_, 4},
    {"f8", "float64", DType::Kind::float_, 8},
}};

}  // namespace

std::string DType::name() const {
  for (const NamedType& known : kNamedTypes) {
    if (known.kind == kind && known.bytes == bytes) return std::string(known.short_name);
  }
  if (kind == Kind::text) return fmt::format("S{}", bytes);
  if (kind == Kind::string) return "string";
  if (kind == Kind::list) return "list of " + item().name();
  if (!other.empty()) return other;
  return fmt::format("{}-byte type", bytes);
}

DType DType::item() const {
  return sized_type(item_kind, item_bytes);
}

DType sized_type(DType::Kind kind, std::size_t bytes) {
  DType dtype;
  dtype.kind = kind;
  dtype.bytes = bytes;
  return dtype;
}

DType string_type() {
  return sized_type(DType::Kind::string, kVaryingBytes);
}

DType list_type(const DType& item) {
  DType dtype = sized_type(DType::Kind::list, kVaryingBytes);
  dtype.item_kind = item.kind;
  dtype.item_bytes = item.bytes;
  return dtype;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const NamedType& known : kNamedTypes) {
    if (known.short_name == name || known.numpy_name == name) return sized_type(known.kind, known.bytes);
  }
  return std::nullopt;
}

}  // namespace chunkwise
