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
  if (!other.empty()) return other;
  return fmt::format("{}-byte type", bytes);
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const NamedType& known : kNamedTypes) {
    if (known.short_name == name || known.numpy_name == name) return DType{known.kind, known.bytes, {}, false};
  }
  return std::nullopt;
}

}  // namespace chunkwise
